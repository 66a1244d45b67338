-- enforce_no_grandchildren: children have children only where their queue allows the depth.
--
--   raises  CM006
create or replace function worker.enforce_no_grandchildren()
  returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_queue worker.queue_registry;
begin
  select q.* into v_queue from worker.queue_registry as q where q.queue_id = new.queue_id;
  if new.depth > v_queue.max_depth then
    raise exception using
      errcode = 'CM006',
      message = format('%s would be %s levels below its root, queue %s allows %s', new.command, new.depth,
                       v_queue.queue, v_queue.max_depth),
      hint = 'A child may spawn siblings: p_parent_id => worker.current_parent_id(). Or raise max_depth of the queue.';
  end if;
  return new;
end;
$$;
