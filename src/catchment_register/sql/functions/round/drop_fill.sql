-- drop_fill: empty the table that a round has begun to fill and cannot finish, and give it its indexes back. Children
-- that still write to it end first.
--
--   locks   access exclusive on the table, until commit, if nobody reads it; else share row exclusive
create or replace function register.drop_fill(p_round_id bigint)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_report text;
begin
  for v_report in select f.report from register.first_fill as f where f.round_id = p_round_id loop
    perform register.empty_table(format('register.%I_row', v_report));
    perform register.end_fill(v_report);
  end loop;
end;
$$;
