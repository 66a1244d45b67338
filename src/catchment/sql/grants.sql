-- Least privilege. Functions run as the owner and check their arguments; no other role can access the tables.
-- catchment_enqueue may create tasks, catchment_worker may run them, catchment_read may read.
revoke all on schema worker from public;
grant usage on schema worker to catchment_enqueue, catchment_worker, catchment_read;
revoke all on all tables in schema worker from public, catchment_enqueue, catchment_worker, catchment_read;
revoke all on all functions in schema worker from public, catchment_enqueue, catchment_worker, catchment_read;
revoke all on all procedures in schema worker from public, catchment_enqueue, catchment_worker, catchment_read;

grant select on worker.tasks, worker.lanes, worker.queues, worker.queue_registry, worker.command_registry,
  worker.schedule, worker.schedule_run,
                worker.attempt, worker.snoozed, worker.warning, worker.trouble, worker.audit, worker.bulk,
                worker.worker,
                worker.migration, worker.version
   to catchment_read, catchment_worker;
grant select on worker.migration, worker.version to catchment_enqueue; -- whether a client fits
grant select on worker.commit_probe to catchment_worker;
grant execute on function worker.explain(bigint), worker.root_cause(bigint), worker.retry_id(bigint),
  worker.app_of(text), worker.alike(text, text[]),
  worker.check_invariants(), worker.strangers(),
  worker.unserved_commands(bigint), worker.now(), worker.moment(), worker.shell_word(text),
  worker.shell_command(text, text[]),
  worker.said_count(bigint, text), worker.said_span(interval), worker.said_when(timestamptz, timestamptz),
  worker.has_pending_children(bigint),
                          worker.has_failed_siblings(bigint), worker.next_cron(text, text, timestamptz),
                          worker.procedure_signatures(text, integer), worker.pulse(),
                          worker.find_tasks(text, text, text, text, text, timestamptz, timestamptz, boolean, bigint,
                                            timestamptz, integer, integer),
                          worker.queue_figures(timestamptz, integer),
                          worker.desired_capacity(text, interval, integer), worker.surroundings_of(bigint, integer),
                          worker.worker_tasks(bigint[], integer, integer), worker.slots_taken(integer),
                          worker.served_queues(),
                          worker.lane_figures(text, integer, integer), worker.gate_figures(integer, integer),
                          worker.queue_limits(), worker.schedule_figures(text, integer),
                          worker.schedule_history(text, integer), worker.schedule_problems(),
                          worker.next_let_in(integer), worker.held_by_queue(bigint),
                          worker.startable(worker.queue_registry, bigint, bigint),
                          worker.refilled(double precision, timestamptz, timestamptz, integer, interval),
                          worker.count_bulk(text, jsonb, integer, integer, timestamptz),
                          worker.ended_tasks(timestamptz, bigint, text[], text, text, text, integer),
                          worker.recent_ends(interval, integer), worker.failures_of(bigint),
                          worker.scope_figures(bigint, integer),
                          worker.scope_groups(bigint, timestamptz, timestamptz, integer, integer, integer),
                          worker.find_children(bigint, text, text, bigint, boolean, integer, integer),
                          worker.find_scopes(boolean, boolean, bigint, integer, integer),
                          worker.task_tree(bigint, text, integer, integer),
                          worker.list_lanes(text, text, integer, integer), worker.open_tasks(text[], text[])
   to catchment_read, catchment_worker;

grant insert (command, payload, priority, scheduled_at, lane, parent_id), select (id, command, state) on worker.tasks
   to catchment_enqueue;
-- Part of every INSERT, by any role with that right.
grant execute on function worker.tasks_on_conflict(), worker.refuse_on_conflict(text) to public;
-- Whatever role a handler has set when its transaction ends.
grant execute on function worker.refuse_commit() to public;
grant execute on function
  worker.enqueue(text, jsonb, integer, text, timestamptz, text),
  worker.enqueue_many(text, jsonb[], integer, text[], timestamptz, text),
  worker.enqueue_each(text[], jsonb[], integer[], text[], timestamptz[], interval[], text[]),
  worker.now()
   to catchment_enqueue;

grant execute on procedure worker.enqueue_analyze_tables(regclass[]) to catchment_enqueue;

grant update (payload, priority, scheduled_at, state) on worker.tasks to catchment_worker;
grant execute on function
  worker.current_task_id(), worker.current_parent_id(), worker.notify(text, text),
  worker.spawn_child(text, jsonb, bigint, integer, text, text, timestamptz, text),
  worker.spawn_many(text, jsonb[], bigint, integer, text, text),
  worker.follow_up(text, jsonb, integer, text, timestamptz, text),
  worker.complete_parent_if_ready(bigint),
  worker.claim_tasks(bigint, text[], integer),
  worker.complete_tasks(bigint[], bigint[], jsonb[], jsonb[]),
  worker.complete_and_go_on(bigint, bigint[], bigint[], jsonb[], jsonb[], integer),
  worker.complete_task(bigint, bigint, jsonb, jsonb, jsonb, text, text, jsonb),
  worker.spawn_children(bigint, bigint, jsonb, text, text),
  worker.fail_task(bigint, bigint, jsonb),
  worker.release_task(bigint, bigint), worker.snooze_task(bigint, bigint, timestamptz, text),
  worker.snooze(interval, text), worker.sleep_until(timestamptz, text),
  worker.report_progress(bigint, bigint, jsonb), worker.held_by(bigint, bigint[]), worker.children_of(bigint),
  worker.attempt_fate(bigint, bigint, integer),
  worker.settle(bigint[], bigint[], text[], jsonb[], jsonb[], jsonb[]),
  worker.cancel(bigint, text), worker.retry(bigint), worker.retry_failed(bigint, integer),
  worker.sweep_cancelled(bigint), worker.skip_halted(text, text),
  worker.run_schedule(text), worker.pause_schedule(text), worker.resume_schedule(text),
  worker.declare_schedules(bigint, jsonb),
  worker.pause_queue(text, timestamptz, text), worker.resume_queue(text),
  worker.write_audit(text, text, text, text, jsonb, text, text),
  worker.start_bulk(text, jsonb, text, text, text, timestamptz), worker.has_bulk(),
  worker.register_commands(jsonb, jsonb, boolean),
  worker.forget_projects(text[]),
  worker.register_worker(text, text[], integer, interval, boolean, text[], text[], integer, text),
  worker.set_worker_queues(bigint, text[], integer),
  worker.has_work(bigint, text[]), worker.work_left(bigint, text[]),
  worker.heartbeat(bigint, interval, integer, real, real), worker.called_upon(bigint),
  worker.ask_worker(bigint, text, text),
  worker.hold_worker_lock(bigint), worker.former_session(bigint), worker.try_worker_lock(bigint),
  worker.take_top(bigint, text[]), worker.leave_top(bigint[], text), worker.unregister_worker(bigint, bigint[]),
  worker.reset_abandoned_processing_tasks(), worker.mark_dead_workers(interval, bigint[]),
  worker.hanging_backends(bigint[]), worker.interrupt_abandoned(bigint[], bigint), worker.interrupt_orphans(bigint),
  worker.lock_holders(bigint[]), worker.go_to_sleep(bigint, text, integer[], "char"),
  worker.wake_up(bigint, text, integer[], "char"), worker.promote_due(integer, bigint), worker.age_ready(integer, text),
  worker.expire_deadlines(bigint), worker.lock_signalled(), worker.upkeep(), worker.take_turn(text),
  worker.upkeep_is_due(), worker.has_suspects(), worker.keep_engine(), worker.keep_step(text, bigint[]),
  worker.retry_troubles(bigint[]),
  worker.signal_backends(text, integer[], timestamptz), worker.find_dead(), worker.backends_to_signal(text, bigint[]),
  worker.note_trouble(text, text, text, text), worker.forget_trouble(text, text, timestamptz),
  worker.forget_workers(bigint[]), worker.chores(), worker.new_troubles(timestamptz),
  worker.let_in(text[], boolean, boolean, boolean), worker.rouse_limited(), worker.due_schedules(),
  worker.fire_schedule(text), worker.close_idle_scopes(bigint, integer), worker.begin_session(text, text, boolean),
  worker.begin_tasks(text, integer, integer, boolean, integer), worker.enter_task(bigint), worker.leave_task(),
  worker.announce_start(worker.sql_run), worker.snooze_request(jsonb),
  worker.processed_task(worker.sql_run, text, text, jsonb, interval, interval),
  worker.may_batch(), worker.noted_pace(jsonb, integer), worker.known_limit(jsonb),
  worker.enter_batched(bigint, boolean, text, jsonb, timestamptz, boolean), worker.opens_scope(bigint),
  worker.known_pace(),
  worker.note_pace(jsonb, text, boolean, boolean), worker.is_brief(jsonb, text), worker.lock_patience(interval),
  worker.more_durable(text, text), worker.batch_limit(integer, integer, integer, interval, interval),
  worker.end_batch(bigint[], bigint[], text[], jsonb[], jsonb[]),
  worker.session_hints(text), worker.last_processed(), worker.look_from_start(), worker.take_after_call(boolean),
  worker.has_after_calls(), worker.may_analyze(oid), worker.call_text(text, integer), worker.call_of(text),
  worker.find_handler(text, boolean), worker.raise_no_handler(text, text),
  worker.sql_error(text, text, text, text, text), worker.pause_before_try(integer), worker.check_info(jsonb),
  worker.record_warning(bigint, text, text)
   to catchment_worker;
grant execute on procedure
  worker.spawn(text, jsonb, bigint, integer, text, text, timestamptz),
  worker.process_tasks(integer, integer, text, integer, text), worker.drain(text),
  worker.run_tasks(boolean, integer, integer, text, integer, text),
  worker.run_batch(worker.sql_run[], text[], timestamptz, jsonb, jsonb, integer, integer, integer, boolean, boolean),
  worker.run_batched(worker.sql_run, boolean, interval, text, text, jsonb, jsonb, interval),
  worker.call_handler(worker.sql_run, jsonb),
  worker.run_handler(worker.sql_run, boolean, text, jsonb, interval),
  worker.run_hook(bigint, text, text, jsonb, boolean),
  worker.run_after_calls(boolean, integer, text[]), worker.forget_settings(text[]),
  worker.run_before(bigint, text, jsonb), worker.task_cleanup(jsonb, jsonb), worker.analyze_tables(jsonb, jsonb),
  worker.run_bulk(jsonb, jsonb), worker.run_bulk_batch(jsonb, jsonb), worker.end_bulk(jsonb)
   to catchment_worker;
