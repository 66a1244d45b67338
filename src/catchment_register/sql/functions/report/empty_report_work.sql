-- empty_report_work: delete what is staged for a history: after it is published, and before a round stages anything,
-- because a broken round may have left rows. Large tables are truncated, because small rounds would otherwise read
-- their dead rows.
--
--   locks   what it truncates, see empty_table; none but reports of the one open round, and copies, use it
create or replace function register.empty_report_work()
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  c_small  constant bigint := 1048576;
  v_table  regclass;
begin
  foreach v_table in array '{register.report_cell,register.statistical_history_staging}'::regclass[] loop
    if pg_relation_size(v_table) > c_small then
      perform register.empty_table(v_table);
    else
      execute format('delete from %s', v_table);
    end if;
  end loop;
end;
$$;
