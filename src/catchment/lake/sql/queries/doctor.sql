-- Problems of the dynamic tables of this database; remedies as in the doctor of the engine.
select 'warning' as level, t.dynamic_table as subject,
       format('the table is suspended after %s failed refreshes: %s', t.error_streak, t.last_error) as finding,
       E'# Repair the cause, and refresh the table by hand; then:\n' || lake.table_command('resume', t.id) as remedy
  from lake.tables as t
 where t.suspended_by = 'failures'
union all
select 'warning', 'lake', format('%s refreshes wait, and no worker serves the lake', count(*)),
       'catchment table worker'
  from lake.refresh as r
 where r.task_id is not null
   and r.started_at is null
   and r.finished_at is null
   and r.created_at < worker.now() - interval '10 seconds'
   and lake.count_workers() = 0
having count(*) > 0
union all
select 'warning', 'lake',
       format('session %s (%s) holds the commit lock%s: refreshes wait for it, then publish without it', h.pid, h.who,
              coalesce(' and has done nothing for '
                       || date_trunc('second', clock_timestamp() - h.idle_since)::text, '')),
       worker.shell_command('catchment psql -c', format('select pg_terminate_backend(%s)', h.pid))
       || '  # if it was forgotten'
  from lake.lock_holders() as h
 where not h.is_publishing
   and not h.is_stale
   and (h.idle_since < clock_timestamp() - interval '1 minute'
        or h.idle_since is null
       and exists (select
                     from lake.refresh as r
                    where r.finished_at > worker.now() - interval '1 hour'
                      and r.figures ->> 'lock_kept_by' like format('session %s (%%', h.pid)))
union all
select 'warning', t.dynamic_table, format('its data are %s old, and %s is the target', date_trunc('second', t.lag),
                                          t.effective_lag),
       '# It needs more workers, or a longer TARGET_LAG. catchment table why says more.'
  from lake.tables as t
 where t.scheduling_state = 'ACTIVE'
   and t.scheduler
   and t.lag > 2 * t.effective_lag + interval '1 minute'
union all
select 'warning', 'lake',
       format('messages of this server are in the language of %s, and DuckLake tells by English ones whether a commit '
              'can be tried again', current_setting('lc_messages')),
       '# As a superuser: grant set on parameter lc_messages to the user of the lake''s workers.'
 where current_setting('lc_messages') !~* '^(c|posix|en)([._].*)?$'
   and not has_parameter_privilege('lc_messages', 'set')
union all
select 'warning', 'lake',
       format('files that interrupted refreshes may have left wait to be removed, in %s places such as %s',
              count(*), min(a.path)),
       E'catchment table worker  # a worker removes them\ncatchment table maintain --all  # by hand'
  from lake.artifact as a
  left join lake.refresh as r on r.id = a.refresh_id
 where a.made_at < worker.now() - interval '1 hour'
   and (r.id is null or r.finished_at < worker.now() - interval '1 hour')
having count(*) > 0
union all
select 'warning', format('%s.%s', n.schema_name, n.name),
       case when n.taken_by is null then 'the view with its name was dropped by another client: readers do not find it'
            else format('another client has made a %s with its name: that is what readers see', n.taken_by) end,
       case when n.taken_by is null then '# A worker makes the view again; or by hand: catchment table maintain.'
            else format('# Rename or drop that %s; then: catchment table maintain.', n.taken_by) end
  from lake.lost_names() as n
