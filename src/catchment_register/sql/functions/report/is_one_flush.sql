-- is_one_flush: whether the changes of a scope come from one flush alone.
create or replace function register.is_one_flush(
  p_after  bigint,
  p_to     bigint
)
  returns boolean
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select coalesce(min(c.flush_id) = max(c.flush_id), true)
    from register.statistical_unit_change as c
   where c.flush_id > p_after
     and c.flush_id <= p_to;
$$;
