create or replace trigger enforce_no_grandchildren before insert on worker.task
  for each row when (new.depth > 1) execute function worker.enforce_no_grandchildren();
create or replace trigger refuse_early_settle before update of state on worker.scope
  for each row when (old.state = 'waiting' and new.state <> 'waiting') execute function worker.refuse_early_settle();
create or replace trigger refuse_open_scope_delete before delete on worker.scope
  for each row when (old.state = 'waiting') execute function worker.refuse_open_scope_delete();
create or replace trigger refuse_outcome_of_open_scope after insert on worker.outcome
  referencing new table as new_rows for each statement execute function worker.refuse_outcome_of_open_scope();
create or replace trigger refuse_orphans after delete on worker.task
  referencing old table as old_rows for each statement execute function worker.refuse_orphans();
drop trigger if exists count_late_children on worker.late_child;
create constraint trigger count_late_children after insert on worker.late_child
  deferrable initially deferred for each row execute function worker.count_late_children();
create or replace trigger check_schedule before insert or update of every, cron, timezone on worker.schedule
  for each row execute function worker.check_schedule();
create or replace trigger check_next_at before update of next_at on worker.schedule
  for each row when (new.next_at not between timestamptz '0001-01-03 00:00:00+00'
                                         and timestamptz '9999-12-29 00:00:00+00')
  execute function worker.check_schedule();
create or replace trigger pin_procedures before insert or update of handler_procedure, join_procedure,
  handler_signature, join_signature
  on worker.command_registry for each row execute function worker.pin_procedures();
create or replace trigger announce_queue after insert or update on worker.queue_registry
  for each row execute function worker.announce_queue();
create or replace trigger announce_command after insert or update of queue, handler_kind on worker.command_registry
  for each row execute function worker.announce_queue();
