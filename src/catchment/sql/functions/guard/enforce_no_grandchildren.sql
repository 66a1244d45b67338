-- enforce_no_grandchildren: children have children only where their queue allows the depth. Where it allows any, a
-- command that spawns itself without end stops at c_most levels, which settle in about a second.
--
--   raises  CM006 the child would be too deep
create or replace function worker.enforce_no_grandchildren()
  returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  c_most  constant integer := 1000;
  v_queue worker.queue_registry;
begin
  select q.* into v_queue from worker.queue_registry as q where q.queue_id = new.queue_id;
  if new.depth > coalesce(v_queue.max_depth, c_most) then
    raise exception using
      errcode = 'CM006',
      message = format('%s would be %s levels below its root, queue %s allows %s', new.command, new.depth,
                       v_queue.queue, coalesce(v_queue.max_depth, c_most)),
      hint = case
               when v_queue.max_depth is null
                 then 'Does the command spawn itself without end? If not, set max_depth of the queue.'
               else 'A child may spawn siblings: p_parent_id => worker.current_parent_id(). Or raise max_depth of the '
                    'queue; null allows any depth.'
             end;
  end if;
  return new;
end;
$$;
