-- is_idle: does no child of this serial scope have its turn, now that p_new more stand in line? All others are
-- scheduled then. If a child stood in line before, one of them has it.
create or replace function worker.is_idle(
  p_scope_id  bigint,
  p_new       integer
)
  returns boolean
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select (select count(*)
            from (select from worker.blocked as b
                   where b.wait_id = p_scope_id
                     and b.reason = 'serial'
                   limit p_new + 1) as w) <= p_new
         and not worker.has_active_child(p_scope_id);
$$;
