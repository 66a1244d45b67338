-- refuse_unknown_schedule: the error of a schedule that does not exist, with the one that was probably meant.
--
--   raises  CM018 an option has an invalid value
create or replace function worker.refuse_unknown_schedule(p_name text)
  returns void
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_alike text := worker.alike(p_name, array(select s.name from worker.schedule as s));
begin
  raise exception using
    errcode = 'CM018',
    message = format('schedule is %L, expected the name of one that there is', p_name),
    hint = coalesce('Did you mean ' || v_alike || '? ', '') || '"catchment schedule list" shows them.';
end;
$$;
