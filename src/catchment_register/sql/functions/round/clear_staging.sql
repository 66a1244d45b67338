-- clear_staging: delete what a round has staged and not published.
create or replace function register.clear_staging(p_round_id bigint)
  returns void
  language sql security definer set search_path = pg_catalog, pg_temp
as $$
  delete from register.statistical_unit_staging as s where s.round_id = p_round_id;
  delete from register.report_cell as c where c.round_id = p_round_id;
  delete from register.statistical_history_staging as s where s.round_id = p_round_id;
  delete from register.round_batch as b where b.round_id = p_round_id;
$$;
