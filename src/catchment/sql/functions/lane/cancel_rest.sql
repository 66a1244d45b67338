-- cancel_rest: cancel everything behind these lane heads. For a serial queue, that is its whole top level.
--
--   pending -> cancelled
--   locks   see settle_unstarted; the caller holds the lane rows of the heads
create or replace function worker.cancel_rest(p_head_ids bigint[])
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_head worker.task;
begin
  for v_head in
    select t.* from worker.task as t where t.id = any (p_head_ids) order by t.queue_id, t.lane nulls first
  loop
    perform worker.settle_unstarted(
      array(
        select b.id
          from worker.blocked as b
         where b.reason = 'lane'
           and b.queue_id = v_head.queue_id
           and b.lane = coalesce(v_head.lane, b.lane)
        union all
        select r.id
          from worker.ready as r
         where v_head.lane is null
           and r.queue_id = v_head.queue_id
           and r.tier = 1
           and r.phase = 0),
      format('task %s in front of it failed', v_head.id));
  end loop;
end;
$$;
