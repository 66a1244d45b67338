-- plan_batches: divide the units of a round into batches that share no unit: whole groups of connected enterprises,
-- largest first, about settings.batch_enterprises in each; in a round over all, then the enterprises that share
-- nothing, four times as many in each, since there is work for all sessions and each batch has a price; then power
-- groups, in at most 64. Units that are gone from the base tables become batch 0, so that their published rows are
-- deleted too.
--
--   reads   pg_temp.p_group
--   plan    no_jit
create or replace function register.plan_batches(p_round_id bigint)
  returns table (batch_seq integer, enterprise_ids int4multirange, power_group_ids int4multirange)
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  c_all    constant integer := 4;
  v_round  register.round;
  v_size   integer := (select s.batch_enterprises from register.settings as s);
  v_groups integer[];
  v_count  integer := 0;
  v_rows   integer;
begin
  select r.* into v_round from register.round as r where r.id = p_round_id;
  if v_round.kind = 'all' then
    v_groups := array(select g.id from register.power_group as g);
    perform register.closed_groups(null);
  else
    v_round := register.effective_units(p_round_id);
    v_groups := register.note_orphans(v_round);
    perform register.closed_groups(array(select e.id from register.enterprise as e
                                          where e.id = any (register.id_array(v_round.effective_enterprise_ids))));
  end if;

  return query
  with sized as (
    select g.label, count(*) as size from pg_temp.p_group as g group by g.label
  ),
  packed as (
    -- A label has one number, so no two batches share a unit.
    select s.label, 1 + div(sum(s.size) over (order by s.size desc, s.label) - s.size, v_size)::integer as seq
      from sized as s
  ),
  numbered as (
    select p.label, dense_rank() over (order by p.seq)::integer as seq from packed as p
  )
  select n.seq, range_agg(int4range(g.enterprise_id, g.enterprise_id, '[]')), '{}'::int4multirange
    from numbered as n
    join pg_temp.p_group as g on g.label = n.label
   group by n.seq
   order by n.seq;
  get diagnostics v_rows = row_count;
  v_count := v_count + v_rows;

  if v_round.kind = 'all' then
    return query
    select v_count + e.seq, range_agg(int4range(e.id, e.id, '[]')), '{}'::int4multirange
      from (select n.id, 1 + ((row_number() over (order by n.id) - 1) / (v_size * c_all))::integer as seq
              from register.enterprise as n
             where not exists (select from pg_temp.p_group as g where g.enterprise_id = n.id)) as e
     group by e.seq
     order by e.seq;
    get diagnostics v_rows = row_count;
    v_count := v_count + v_rows;
  end if;

  return query
  select v_count + p.seq, '{}'::int4multirange, range_agg(int4range(p.id, p.id, '[]'))
    from (select u.id,
                 1 + ((row_number() over (order by u.id) - 1)
                      / greatest(1, ceil(cardinality(v_groups) / 64.0)::integer))::integer as seq
            from unnest(v_groups) as u (id)) as p
   group by p.seq
   order by p.seq;
  get diagnostics v_rows = row_count;
  update register.round as r
     set batch_count = v_count + v_rows,
         effective_establishment_count = register.count_effective('establishment', v_round),
         effective_legal_unit_count    = register.count_effective('legal_unit', v_round),
         effective_enterprise_count    = register.count_effective('enterprise', v_round),
         effective_power_group_count   = register.count_effective('power_group', v_round)
   where r.id = p_round_id;
end;
$$;
