-- collect_cells: unit rows of some slots as cells of a report.
--
-- When everything is counted, units with a single row that look the same to the report become one cell. Changes stay
-- row by row: there are few. So do units with several rows, which are compared with themselves in time. A negative
-- p_partition_seq collects from what is published, whatever the round's changes are: for the history the types of the
-- scratch table wanted_facet, for facets the units of wanted_unit.
--
--   locks   nothing; returns how many cells there are
create or replace function register.collect_cells(
  p_round_id       bigint,
  p_report         text,
  p_partition_seq  integer,
  p_slots          int4multirange
)
  returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_source  text;
  v_from    bigint;
  v_to      bigint;
begin
  perform register.open_report_scratch();
  select case when p_partition_seq < 0 then case p_report when 'history' then 'types' else 'wanted' end
              when s.is_rebuild then 'all' else 'changes' end, s.from_flush, s.to_flush
    into strict v_source, v_from, v_to
    from register.report_scope(p_round_id, p_report) as s;
  return case p_report
           when 'history' then register.collect_history_cells(p_round_id, p_partition_seq, v_source, v_from, v_to)
           when 'facet'   then register.collect_facet_cells(p_round_id, p_partition_seq, v_source, v_from, v_to,
                                                            p_slots)
         end;
end;
$$;
