-- fill_primaries: known units of a batch got more time, and their enterprise has no primary unit in some of it: then
-- one of them becomes primary there, the first legal unit, else the first establishment. New units are primary anyway.
--
--   locks   the slices that change
create or replace function register.fill_primaries(
  p_table  text,
  p_args   jsonb
)
  returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_ids         integer[];
  v_enterprises integer[];
  v_rows        jsonb;
begin
  if (p_args ->> 'is_new')::boolean then
    return;
  end if;
  v_ids := array(select d.unit_id from register.import_data as d
                  where d.job_id = (p_args ->> 'job_id')::integer
                    and d.batch_seq = (p_args ->> 'batch_seq')::integer
                    and not d.has_error
                    and not d.is_new
                    and d.unit_id between (p_args ->> 'first')::integer and (p_args ->> 'last')::integer);
  v_enterprises := array(
    select l.enterprise_id from register.legal_unit as l
     where p_table = 'legal_unit' and l.id = any (v_ids) and not l.primary_for_enterprise
     union
    select e.enterprise_id from register.establishment as e
     where p_table = 'establishment' and e.id = any (v_ids) and not e.primary_for_enterprise);
  if v_enterprises = '{}' then
    return;
  end if;
  with part as (
    select 'legal_unit' as kind, l.enterprise_id, l.id, l.primary_for_enterprise as is_primary,
           daterange(l.valid_from, l.valid_until) as valid
      from register.legal_unit as l
     where l.enterprise_id = any (v_enterprises)
    union all
    select 'establishment', e.enterprise_id, e.id, e.primary_for_enterprise, daterange(e.valid_from, e.valid_until)
      from register.establishment as e
     where e.enterprise_id = any (v_enterprises)
  ),
  unit as (
    select p.kind, p.enterprise_id, p.id, min(lower(p.valid)) as first_day, range_agg(p.valid) as times
      from part as p
     group by p.kind, p.enterprise_id, p.id
  ),
  -- What is there before a unit gives way to: primary units, and units of the table that come earlier.
  placed as (
    select u.*,
           u.times
           - coalesce((select range_agg(p.valid) from part as p where p.enterprise_id = u.enterprise_id
                          and p.is_primary), '{}')
           - coalesce((select range_agg(o.times) from unit as o
                        where o.enterprise_id = u.enterprise_id
                          and (o.kind > u.kind
                               or o.kind = u.kind and (o.first_day, o.id) < (u.first_day, u.id))), '{}') as free
      from unit as u
  )
  select jsonb_agg(jsonb_build_object('id', f.id, 'primary_for_enterprise', true, 'valid_from', lower(t),
                                      'valid_until', coalesce(upper(t), 'infinity')))
    into v_rows
    from placed as f
   cross join lateral unnest(f.free) as t
   where f.kind = p_table;
  if v_rows is not null then
    perform register.patch_slices(p_table, 'id', v_rows, '{}', p_args ->> 'edit_by', p_args ->> 'note');
  end if;
end;
$$;
