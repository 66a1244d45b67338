-- has_active_child: does a child of this serial scope have its turn: can it start, does it run, wait for its own children, or
-- for its retry?
create or replace function worker.has_active_child(p_scope_id bigint)
  returns boolean
  language sql
  stable
  security definer
  set search_path = pg_catalog, pg_temp
as $$
  select exists (
    select from worker.task as c
     where c.parent_id = p_scope_id
       and (exists (select from worker.ready as r where r.id = c.id)
            or exists (select from worker.running as r where r.id = c.id)
            or exists (select from worker.scope as s where s.id = c.id and s.state = 'waiting')
            or exists (select from worker.blocked as b where b.id = c.id and b.reason = 'retry')));
$$;
