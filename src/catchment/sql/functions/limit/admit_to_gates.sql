-- admit_to_gates: process the gates with new arrivals, and those that open by time. Arrivals at a gate that another
-- transaction holds wait for the next call.
--
--   locks   arrivals that are free; gate rows that are free, new ones among them; then see open_gates
create or replace function worker.admit_to_gates(
  p_limit  integer default 5000,
  p_only   text default null
)
  returns bigint
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_now      timestamptz := worker.now();
  v_rows     tid[];
  v_arrived  text[];
  v_commands text[];
  v_due      text[];
  v_gates    text[];
  v_aside    text[] := case when p_only is null then worker.set_aside('gate') else '{}' end;
begin
  select coalesce(array_agg(a.row_id), '{}'), coalesce(array_agg(a.gate), '{}'), coalesce(array_agg(a.command), '{}')
    into v_rows, v_arrived, v_commands
    from (select x.ctid as row_id, x.gate, x.command
            from worker.gate_arrival as x
           where (p_only is null or x.gate = p_only) and x.gate <> all (v_aside)
           order by x.arrival_id
           limit p_limit
             for update skip locked) as a;
  v_due := array(
    select g.gate
      from worker.gate as g
     where g.next_at <= v_now and (p_only is null or g.gate = p_only) and g.gate <> all (v_aside)
     limit p_limit);

  insert into worker.gate (gate, command, tokens, refilled_at)
  select n.gate, n.command, coalesce(c.rate, 0), v_now
    from (select distinct on (a.gate) a.gate, a.command from unnest(v_arrived, v_commands) as a (gate, command)
           order by a.gate) as n
    left join worker.command_registry as c on c.command = n.command
   where not exists (select from worker.gate as g where g.gate = n.gate)
   order by n.gate
  on conflict (gate) do nothing;
  v_gates := array(
    select g.gate from worker.gate as g where g.gate = any (v_arrived || v_due) order by g.gate for update skip locked);

  with gone as (
    delete from worker.gate_arrival as a
     where a.ctid = any (array(select r.row_id from unnest(v_rows, v_arrived) as r (row_id, gate)
                                where r.gate = any (v_gates)))
    returning a.gate, a.freed, a.unused
  ),
  given_back as (
    select g.gate, sum(g.freed)::integer as freed, sum(g.unused)::integer as unused
      from gone as g
     group by g.gate
    having sum(g.freed) > 0
  )
  update worker.gate as g
     set held   = greatest(g.held - b.freed, 0),
         tokens = g.tokens + b.unused
    from given_back as b
   where g.gate = b.gate;
  perform worker.open_gates(v_gates);
  return cardinality(v_gates);
end;
$$;
