create or replace trigger tasks_insert instead of insert on worker.tasks
  for each row execute function worker.tasks_insert();
create or replace trigger tasks_update instead of update on worker.tasks
  for each row execute function worker.tasks_update();
create or replace trigger tasks_delete instead of delete on worker.tasks
  for each row execute function worker.tasks_delete();
