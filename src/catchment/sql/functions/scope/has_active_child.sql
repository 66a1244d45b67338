-- has_active_child: does a child of this serial scope have its turn: can it start, does it run, wait for its own
-- children, for its retry, or does it snooze? It looks from the youngest child: the older ones have settled, mostly.
create or replace function worker.has_active_child(p_scope_id bigint)
  returns boolean
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select exists (
    select from (select t.id from worker.task as t where t.parent_id = p_scope_id order by t.id desc) as c
     where exists (select from worker.ready as r where r.id = c.id)
        or exists (select from worker.running as r where r.id = c.id)
        or exists (select from worker.scope as s where s.id = c.id and s.state = 'waiting')
        or exists (select from worker.blocked as b where b.id = c.id and b.reason in ('retry', 'snooze')));
$$;
