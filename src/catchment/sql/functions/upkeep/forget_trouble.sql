-- forget_trouble: delete a trouble that works again or no longer exists. Without an item: all troubles of a step that
-- were not noted again since p_since.
create or replace function worker.forget_trouble(
  p_step   text,
  p_item   text default null,
  p_since  timestamptz default null
)
  returns void
  language sql security definer set search_path = pg_catalog, pg_temp
as $$
  delete from worker.trouble as t
   where t.step = p_step
     and (p_item is null or t.item = p_item)
     and (p_since is null or t.last_at < p_since);
$$;
