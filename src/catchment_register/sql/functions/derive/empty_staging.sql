-- empty_staging: delete published rows from staging. A large table with nothing else in it and no other user is
-- truncated. A small one is not, because every session would then plan its queries on it again.
--
--   locks   staging, until commit, if it is free
create or replace function register.empty_staging(p_round_id bigint)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  c_small constant bigint := 1048576;
begin
  if pg_relation_size('register.statistical_unit_staging') > c_small then
    if register.take_alone('register.statistical_unit_staging')
       and not exists (select from register.statistical_unit_staging as s where s.round_id <> p_round_id) then
      truncate register.statistical_unit_staging;
      return;
    end if;
  end if;
  delete from register.statistical_unit_staging as s where s.round_id = p_round_id;
end;
$$;
