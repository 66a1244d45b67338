-- schedule_figures: schedules by name, after p_after: when each fires (rhythm is its cron expression, parsed), its last
-- ten tasks with their states, the newest first, and why it cannot be
-- fired.
create or replace function worker.schedule_figures(
  p_after  text default null,
  p_limit  integer default 100
)
  returns table (name text, command text, queue text, every_seconds float8, cron text, rhythm jsonb, timezone text,
                 missed text, overlap text, is_declared boolean, is_in_code boolean, enabled boolean,
                 next_at timestamptz, last_at timestamptz, last_task_id bigint, error text, recent jsonb, problem text)
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select s.name, s.command, c.queue, extract(epoch from s.every)::float8, s.cron,
         case when f.fault is null and s.cron is not null then to_jsonb(worker.parse_cron(s.cron)) end, s.timezone,
         s.missed, s.overlap, s.is_declared, s.is_declared and worker.is_in_code(s.name), s.enabled, s.next_at,
         s.last_at, s.last_task_id,
         (select left(o.error ->> 'message', 300)
            from unnest(s.recent_ids) with ordinality as r (id, n)
            join worker.outcome as o on o.id = r.id
           order by r.n
           limit 1),
         coalesce((select jsonb_agg(coalesce(worker.standing(r.id), jsonb_build_object('id', r.id)) order by r.n)
                     from unnest(s.recent_ids) with ordinality as r (id, n)), '[]'),
         coalesce((select t.message from worker.trouble as t where t.step = 'schedule' and t.item = s.name),
                  f.fault)
    from (select x.*
            from worker.schedule as x
           where p_after is null or x.name > p_after
           order by x.name
           limit p_limit) as s
    join worker.command_registry as c on c.command = s.command
   cross join lateral (select worker.schedule_fault(s::worker.schedule) as fault) as f
   order by s.name;
$$;
