create or replace trigger tasks_insert instead of insert on worker.tasks
  for each row execute function worker.tasks_insert();
create or replace trigger tasks_update instead of update on worker.tasks
  for each row execute function worker.tasks_update();
create or replace trigger tasks_delete instead of delete on worker.tasks
  for each row execute function worker.tasks_delete();
drop trigger if exists tasks_refuse_on_conflict on worker.tasks;
create trigger tasks_refuse_on_conflict before insert on worker.tasks
  for each statement execute function worker.tasks_refuse_on_conflict();
