-- set_aside: the items of a step that are skipped, because they made it fail. Nearly always an empty list.
create or replace function worker.set_aside(p_step text)
  returns text[]
  language sql security definer set search_path = pg_catalog, pg_temp
as $$
  select array(select t.item from worker.trouble as t where t.step = p_step and t.item <> '');
$$;
