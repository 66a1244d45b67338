-- is_worth_rebuild: whether enough units changed that rebuilding reports is cheaper than updating them: a larger share
-- of all rows, those to come among them, than settings.rebuild_share.
create or replace function register.is_worth_rebuild(
  p_changed  bigint,
  p_staged   bigint
)
  returns boolean
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  -- The planner's estimate is good enough where counting takes long.
  c_counted constant bigint := 5000;
  v_share   numeric := (select s.rebuild_share from register.settings as s);
  v_rows    bigint := (select c.reltuples from pg_class as c where c.oid = 'register.statistical_unit_row'::regclass);
begin
  if v_rows < c_counted then
    v_rows := (select count(*) from register.statistical_unit_row);
  end if;
  return p_changed > v_share * (v_rows + p_staged);
end;
$$;
