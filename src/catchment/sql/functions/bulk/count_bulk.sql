-- count_bulk: how many tasks a bulk would change, were it started now, without those that were made or ended after
-- p_seen_at. The count stops at p_most, and when p_looked tasks were looked at: then is_complete is false, and there
-- may be more. with_parent: how many of them are children of a task that has settled, and are retried with it.
--
--   raises  CM018 an option has an invalid value
create or replace function worker.count_bulk(
  p_verb     text,
  p_filter   jsonb default '{}',
  p_most     integer default 10000,
  p_looked   integer default 100000,
  p_seen_at  timestamptz default null
)
  returns table (tasks integer, is_complete boolean, with_parent integer)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  c_page constant integer := 5000;
  v_page   record;
  v_at     timestamptz;
  v_id     bigint := 0;
  v_looked integer := 0;
  v_until  timestamptz := least(p_seen_at, worker.now());
begin
  perform worker.check_bulk(p_verb, p_filter);
  tasks := 0;
  with_parent := 0;
  loop
    select p.* into v_page
      from worker.bulk_page(p_verb, p_filter, v_until, 9223372036854775807, v_at, v_id, c_page) as p;
    tasks := tasks + cardinality(v_page.ids);
    if p_verb = 'retry' then
      with_parent := with_parent + (select count(*)
                                      from unnest(v_page.ids) as x (id)
                                      join worker.task as t on t.id = x.id
                                      join worker.outcome as o on o.id = t.parent_id
                                     where o.state <> 'completed');
    end if;
    v_looked := v_looked + v_page.looked;
    is_complete := v_page.looked < c_page;
    exit when is_complete or tasks >= p_most or v_looked >= p_looked;
    v_at := v_page.last_at;
    v_id := v_page.last_id;
  end loop;
  if tasks >= p_most then
    tasks := p_most;
    is_complete := false;
  end if;
  return next;
end;
$$;
