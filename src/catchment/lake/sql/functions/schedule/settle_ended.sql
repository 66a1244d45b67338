-- settle_ended: settle refreshes whose task has settled without settling them: the task failed before it could report
-- why, its worker died too often, one of its buckets failed, or it was cancelled.
--
--   locks   refresh rows, those that are free, then see settle_refresh
create or replace function lake.settle_ended(p_rounds bigint[])
  returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_ended record;
begin
  for v_ended in
    select r.id, r.cancel_code, o.state, coalesce(c.error, o.error) as error
      from lake.refresh as r
      join worker.outcome as o on o.id = r.task_id
      left join lateral (select k.error
                           from worker.task as t
                           join worker.outcome as k on k.id = t.id
                          where t.parent_id = r.task_id
                            and k.state = 'failed'
                          order by k.completed_at, k.id
                          limit 1) as c on true
     where r.round_id = any (p_rounds)
       and r.finished_at is null
     order by r.id
       for update of r skip locked
  loop
    perform lake.settle_refresh(
      v_ended.id,
      case when v_ended.state = 'cancelled' and v_ended.cancel_code is null then 'CANCELLED' else 'FAILED' end,
      case when v_ended.cancel_code is not null then v_ended.cancel_code
           when v_ended.state = 'cancelled' then 'CANCELLED'
           else lake.error_code(v_ended.error) end,
      coalesce(v_ended.error ->> 'message', 'its task ended without settling it'));
  end loop;
end;
$$;
