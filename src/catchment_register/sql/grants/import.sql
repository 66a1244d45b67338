-- Import and edit. An editor imports files and edits; a reader sees their progress. temporal_merge and its like take
-- SQL text: they are for the owner alone.
grant insert on register.import_upload to register_edit;
grant execute on function
  register.create_import_job(text, text, date, date, boolean, jsonb, jsonb, text, text),
  register.finish_upload(integer), register.resolve_review(integer, boolean, text), register.retry_import_job(integer),
  register.delete_import_job(integer), register.column_problem(text, text)
  to register_edit;
grant execute on function register.is_importing(), register.import_progress(), register.is_served(text)
   to register_read, catchment_worker;
grant execute on function
  register.edit_unit(text, integer, jsonb, date, date, text), register.end_unit(text, integer, date),
  register.delete_unit(text, integer), register.connect_legal_unit(integer, integer, date, date, text),
  register.set_primary(text, integer, date, date, text),
  register.relate(integer, integer, text, numeric, date, date, text),
  register.unrelate(integer, integer, text, date, date)
  to register_edit;
grant execute on function register.find_unit(text), register.activity_name(text) to register_read;
