-- admit_to_gates: look at the gates that tasks have come to, and at those that open by time.
--
--   locks   arrivals that are free; gate rows by key, new ones among them; then see open_gates
create or replace function worker.admit_to_gates(
  p_limit  integer default 5000,
  p_only   text default null
)
  returns bigint
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_now   timestamptz := worker.now();
  v_gates text[];
  v_aside text[] := case when p_only is null then worker.set_aside('gate') else '{}' end;
begin
  with gone as (
    delete from worker.gate_arrival as a
     where a.ctid = any (array(select x.ctid
                                from worker.gate_arrival as x
                               where (p_only is null or x.gate = p_only) and x.gate <> all (v_aside)
                               order by x.arrival_id
                               limit p_limit
                                 for update skip locked))
    returning a.gate, a.command
  ),
  due as materialized (
    select g.gate, g.command from gone as g
     union
    (select g.gate, g.command
       from worker.gate as g
      where g.next_at <= v_now and (p_only is null or g.gate = p_only) and g.gate <> all (v_aside)
      limit p_limit)
  ),
  made as (
    insert into worker.gate (gate, command, tokens, refilled_at)
    select g.gate, g.command, coalesce(c.rate, 0), v_now
      from (select distinct on (d.gate) d.gate, d.command from due as d order by d.gate) as g
      left join worker.command_registry as c on c.command = g.command
     order by g.gate
    on conflict (gate) do update set command = excluded.command where false -- locks the row and leaves it as it is
  )
  select array_agg(distinct d.gate) into v_gates from due as d;
  perform worker.open_gates(v_gates);
  return cardinality(v_gates);
end;
$$;
