-- change_by_bulk: retry or cancel one task of a bulk. Returns false if the task has changed since the bulk was started:
-- it has settled, was retried, or has failed again.
--
--   locks   see retry and cancel
--   raises  what these raise
create or replace function worker.change_by_bulk(
  p_bulk  worker.bulk,
  p_id    bigint
)
  returns boolean
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_id     bigint := p_id;
  v_parent bigint;
begin
  if p_bulk.verb = 'cancel' then
    return worker.cancel(p_id, p_bulk.reason) in ('cancelled', 'cancelling');
  end if;
  perform o.id
     from worker.outcome as o
    where o.id = p_id
      and o.state = coalesce(p_bulk.filter ->> 'state', case when p_bulk.filter ? 'ids' then o.state else 'failed' end)
      and o.state <> 'completed'
      and o.completed_at <= p_bulk.asked_at
      for update;
  if not found then
    return false;
  end if;
  -- A child comes back only while its scope is open.
  loop
    select t.parent_id into v_parent
      from worker.task as t
      join worker.outcome as o on o.id = t.parent_id
     where t.id = v_id
       and o.state <> 'completed';
    exit when v_parent is null;
    v_id := v_parent;
  end loop;
  perform worker.retry(v_id);
  return true;
end;
$$;
