-- The register's queues, commands and schedules. Run as catchment_owner after the routines, and again with every
-- upgrade: what an operator tunes (concurrency, priorities, timeouts, retries, times of schedules) is left as it is.
do $$
declare
  v_wrong text;
begin
  select format('queue %s exists and is not serial', q.queue) into v_wrong
    from worker.queue_registry as q
   where q.queue in ('analytics', 'import')
     and q.mode <> 'serial';
  if v_wrong is null then
    select format('command %s exists with the handler %s', c.command,
                  coalesce(c.handler_procedure, 'in Python')) into v_wrong
      from worker.command_registry as c
     where c.command in ('collect_changes', 'derive_statistical_unit', 'statistical_unit_refresh_batch',
                         'derive_statistical_unit_continue', 'statistical_unit_flush_staging',
                         'statistical_unit_build_index', 'derive_reports',
                         'derive_statistical_history', 'derive_statistical_history_period',
                         'derive_statistical_unit_facet', 'derive_statistical_unit_facet_partition',
                         'statistical_unit_facet_reduce', 'derive_statistical_history_facet',
                         'derive_statistical_history_facet_period', 'import_job_process', 'import_job_cleanup')
       and (c.handler_procedure like 'register.%') is not true;
  end if;
  if v_wrong is not null then
    raise exception using
      errcode = 'CM013', message = v_wrong,
      hint = 'The register needs these names for itself: rename yours, or use another database.';
  end if;
end;
$$;

-- No ageing: a waiting collect_changes must not be lifted over the stages of the round that runs.
insert into worker.queue_registry as q (queue, mode, concurrency, age_step, description)
values ('analytics', 'serial', 4, 0, 'Derivation of the register: one round at a time, its children side by side.'),
       ('import', 'serial', 1, 0, 'Import jobs of the register, one after the other.')
on conflict (queue) do update
   set age_step = excluded.age_step
 where q.age_step <> excluded.age_step;

insert into worker.command_registry as c (command, queue, handler_procedure, before_procedure, after_procedure,
                                          join_procedure, dedup, merge, description)
select w.command, w.queue, 'register.' || w.command,
       'register.' || w.hooks || '_started', 'register.' || w.hooks || '_settled', 'register.' || w.joins,
       w.dedup::text[], coalesce(w.merge::jsonb, '{}'), w.description
  from (values
    ('collect_changes', 'analytics', 'round', null, '{}', '{"scope": "last"}',
     'Takes what was logged into a round.'),
    ('derive_statistical_unit', 'analytics', 'round', null, '{scope}',
     '{"establishment_ids": "range_union", "legal_unit_ids": "range_union", "enterprise_ids": "range_union",
       "power_group_ids": "range_union"}',
     'Finds the units to derive and packs them into batches.'),
    ('statistical_unit_refresh_batch', 'analytics', null, null, null, null,
     'Derives the units of one batch and stages them.'),
    ('derive_statistical_unit_continue', 'analytics', 'round', null, '{}', null,
     'Brings planner statistics up to date, once a round.'),
    ('statistical_unit_flush_staging', 'analytics', 'round', 'finish_statistical_unit_flush_staging', '{}', null,
     'Publishes staged units where they differ.'),
    ('statistical_unit_build_index', 'analytics', null, null, null, null,
     'One index of units that are published for the first time.'),
    ('derive_reports', 'analytics', 'round', null, '{}', null,
     'Begins the reports.'),
    ('derive_statistical_history', 'analytics', 'round', 'finish_statistical_history', '{}', null,
     'History by period.'),
    ('derive_statistical_history_period', 'analytics', null, null, null, null,
     'Some periods of the history.'),
    ('derive_statistical_unit_facet', 'analytics', 'round', null, '{}', null,
     'Facets of units, by partition.'),
    ('derive_statistical_unit_facet_partition', 'analytics', null, null, null, null,
     'One partition of the facets.'),
    ('statistical_unit_facet_reduce', 'analytics', 'round', null, '{}', null,
     'Publishes the facets of units.'),
    ('derive_statistical_history_facet', 'analytics', 'round', 'finish_statistical_history_facet', '{}', null,
     'History by period and facet.'),
    ('derive_statistical_history_facet_period', 'analytics', null, null, null, null,
     'Some periods of the history by facet.'),
    ('import_job_process', 'import', 'import', null, '{job_id,step,batch_seq}', null,
     'Takes an import job one step further, or one of its batches.'),
    ('import_job_cleanup', 'maintenance', null, null, '{}', null,
     'Deletes import jobs whose time is over.'))
       as w (command, queue, hooks, joins, dedup, merge, description)
on conflict (command) do update
   set queue             = excluded.queue,
       handler_procedure = excluded.handler_procedure,
       before_procedure  = excluded.before_procedure,
       after_procedure   = excluded.after_procedure,
       join_procedure    = excluded.join_procedure,
       dedup             = excluded.dedup,
       merge             = excluded.merge,
       description       = excluded.description
 where (c.queue, c.handler_procedure, c.before_procedure, c.after_procedure, c.join_procedure, c.dedup, c.merge,
        c.description)
       is distinct from
       (excluded.queue, excluded.handler_procedure, excluded.before_procedure, excluded.after_procedure,
        excluded.join_procedure, excluded.dedup, excluded.merge, excluded.description);

insert into worker.schedule (name, command, cron)
values ('register_day', 'collect_changes', '5 0 * * *'),
       ('import_job_cleanup', 'import_job_cleanup', '20 3 * * *')
on conflict do nothing;

-- PostgreSQL lets everybody run a new function.
do $$
declare
  v_function regprocedure;
begin
  for v_function in
    select p.oid from pg_catalog.pg_proc as p
     where p.pronamespace = 'worker'::regnamespace and p.prokind = 'f'
       and p.proname in (select 'enqueue_' || c.command from worker.command_registry as c)
  loop
    execute format('revoke all on function %s from public', v_function);
  end loop;
end;
$$;
