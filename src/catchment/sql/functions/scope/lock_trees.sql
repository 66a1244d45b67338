-- lock_trees: take all locks that settling tasks of these trees can need, in lock order, before settling them tree by
-- tree.
--
--   locks   the scope rows of these tasks, of all below and of all above them, deepest first, then id; their lane rows
--           by key
--   plan    walk
create or replace function worker.lock_trees(p_ids bigint[])
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform s.id
     from worker.scope as s
    where s.id in (with recursive below as (
                     select i.id from unnest(p_ids) as i (id)
                     union
                     select c.id from below as p join worker.task as c on c.parent_id = p.id
                   ),
                   above as (
                     select t.id, t.parent_id from worker.task as t where t.id = any (p_ids)
                     union
                     select t.id, t.parent_id from above as c join worker.task as t on t.id = c.parent_id
                   )
                   select b.id from below as b union select a.id from above as a)
      and s.state = 'waiting'
    order by s.depth desc, s.id
      for no key update;
  perform l.lane
     from worker.lane as l
    where (l.queue_id, l.lane) in (select r.queue_id, k.lane
                                     from worker.task as t
                                     join worker.task as r on r.id = coalesce(t.root_id, t.id)
                                    cross join unnest(array['', r.lane]) as k (lane)
                                    where t.id = any (p_ids))
    order by l.queue_id, l.lane
      for update;
end;
$$;
