-- clear_report: take away what a round has staged for a report, once that is published. What a full round leaves behind is
-- truncated: small rounds would read its dead rows for long.
--
--   locks   access exclusive on what it truncates; none but reports of the one open round use it
create or replace function register.clear_report(
  p_round_id  bigint,
  p_report    text
)
  returns void
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  c_small constant bigint := 1048576;
begin
  -- The facets end the round: then nothing else is left in these tables, and nobody need look.
  if pg_relation_size('register.report_cell') > c_small
     and (p_report = 'facet' or not exists (select from register.report_cell as c
                                             where c.round_id <> p_round_id or c.report <> p_report)) then
    truncate register.report_cell;
  else
    delete from register.report_cell as c where c.round_id = p_round_id and c.report = p_report;
  end if;
  if p_report = 'history' then
    delete from register.statistical_history_staging as s where s.round_id = p_round_id;
    return;
  end if;
  if pg_relation_size('register.statistical_history_facet_staging') > c_small then
    truncate register.statistical_history_facet_staging;
  else
    delete from register.statistical_history_facet_staging as s where s.round_id = p_round_id;
  end if;
  delete from register.staging_mark as m where m.round_id = p_round_id;
end;
$$;
