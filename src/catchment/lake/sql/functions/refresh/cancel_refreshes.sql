-- cancel_refreshes: cancel the open refreshes of a table, and of a new definition of it. A refresh that has been
-- published succeeds. A new definition whose first refresh nobody has asked for is given up too: its session has died.
--
--   any open state -> CANCELLED, or SUCCEEDED
--   returns how many were under way; a definition that waits for its first refresh counts as one
--   locks   rounds by id, as advance does, then refresh rows by id; see settle_refresh and worker.cancel
create or replace function lake.cancel_refreshes(
  p_dt_id  bigint,
  p_text   text
)
  returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_tables  bigint[] := array(select d.id from lake.dt as d where p_dt_id in (d.id, d.replaces));
  v_count   integer := 0;
  v_rounds  bigint[];
  v_refresh record;
  v_new     record;
begin
  select array_agg(n.id) into v_rounds
    from (select o.id
            from lake.round as o
           where o.id in (select r.round_id from lake.refresh as r
                           where r.dt_id = any (v_tables) and r.finished_at is null)
           order by o.id
             for no key update) as n;
  for v_refresh in
    select r.id, r.task_id, r.round_id
      from lake.refresh as r
     where r.dt_id = any (v_tables)
       and r.round_id = any (v_rounds)
       and r.finished_at is null
     order by r.id
       for update
  loop
    perform lake.settle_refresh(v_refresh.id, 'CANCELLED', 'CANCELLED', p_text);
    perform worker.cancel(t.id, p_text) from worker.task as t where t.id = v_refresh.task_id;
    perform lake.advance(v_refresh.round_id);
    v_count := v_count + 1;
  end loop;
  for v_new in select d.id from lake.dt as d where d.replaces = p_dt_id and d.state <> 'dropping' loop
    perform lake.give_up_replacement(v_new.id);
    v_count := v_count + 1;
  end loop;
  return v_count;
end;
$$;
