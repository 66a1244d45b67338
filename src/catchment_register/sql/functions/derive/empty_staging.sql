-- empty_staging: take published rows out of staging; at once if nothing else is in it and nobody is at it.
--
--   locks   staging, until commit, if it is free
create or replace function register.empty_staging(
  p_round_id  bigint
)
  returns void
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
as $$
begin
  begin
    lock table register.statistical_unit_staging in access exclusive mode nowait;
    if not exists (select from register.statistical_unit_staging as s where s.round_id <> p_round_id) then
      truncate register.statistical_unit_staging;
      return;
    end if;
  exception
    when lock_not_available then
      null;
  end;
  delete from register.statistical_unit_staging as s where s.round_id = p_round_id;
end;
$$;
