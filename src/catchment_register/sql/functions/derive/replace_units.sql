-- replace_units: delete published rows of units in p_diff that are gone or different, and insert staged ones that are
-- new or different. Rows that are the same stay as they are.
--
--   reads   pg_temp.p_diff
--   plan    no_jit
create or replace function register.replace_units(
  p_round_id  bigint,
  out deleted   bigint,
  out inserted  bigint
)
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  delete from register.statistical_unit_row as p
   using pg_temp.p_diff as d
   where p.unit_type = d.unit_type
     and p.unit_id = d.unit_id
     and not exists (select from register.statistical_unit_staging as s
                      where s.round_id = p_round_id
                        and s.unit_type = p.unit_type
                        and s.unit_id = p.unit_id
                        and s.valid_from = p.valid_from
                        and register.staged_row(s) is not distinct from p);
  get diagnostics deleted = row_count;
  insert into register.statistical_unit_row
  -- Joined first: the planner takes what is left by "not exists" for next to nothing.
  with wanted as materialized (
    select s as staged
      from register.statistical_unit_staging as s
      join pg_temp.p_diff as d on d.unit_type = s.unit_type and d.unit_id = s.unit_id
     where s.round_id = p_round_id
  )
  select (register.staged_row(w.staged)).*
    from wanted as w
   where not exists (select from register.statistical_unit_row as p
                      where p.unit_type = (w.staged).unit_type
                        and p.unit_id = (w.staged).unit_id
                        and p.valid_from = (w.staged).valid_from);
  get diagnostics inserted = row_count;
end;
$$;
