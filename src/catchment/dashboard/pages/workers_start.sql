-- workers_start: what starts a worker, with the apps of the Python commands that are registered.
select concat_ws(' ', 'catchment worker', string_agg('--app ' || a.app, ' ' order by a.app)) as command
  from (select distinct worker.app_of(c.handler_procedure) as app
          from worker.command_registry as c
         where c.handler_kind = 'python'
         order by 1
         limit 5) as a
