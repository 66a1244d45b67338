-- open_runs: which of these tasks have not settled; of merged ones, those that they were merged into.
create or replace function worker.open_runs(p_ids bigint[])
  returns bigint[]
  language sql stable set search_path = pg_catalog, pg_temp
as $$
  select array(select distinct coalesce(b.wait_id, t.id)
                 from worker.task as t
                 left join worker.blocked as b on b.id = t.id and b.reason = 'merged'
                where t.id = any (p_ids)
                  and not exists (select from worker.outcome as o where o.id = t.id));
$$;
