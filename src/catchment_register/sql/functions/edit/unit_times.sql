-- unit_times: when a unit is there within a period, as rows of its slices' times put together.
--
--   raises  RG008 the edit is invalid; RG022 the period is invalid
create or replace function register.unit_times(
  p_unit_type    text,
  p_unit_id      integer,
  p_valid_from   date,
  p_valid_until  date
)
  returns datemultirange
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_times datemultirange;
begin
  perform register.require_period(p_valid_from, p_valid_until);
  select range_agg(daterange(s.valid_from, s.valid_until)) into v_times
    from (select l.valid_from, l.valid_until from register.legal_unit as l where p_unit_type = 'legal_unit'
             and l.id = p_unit_id
          union all
          select e.valid_from, e.valid_until from register.establishment as e
           where p_unit_type = 'establishment' and e.id = p_unit_id) as s;
  v_times := v_times * datemultirange(daterange(p_valid_from, p_valid_until));
  if coalesce(isempty(v_times), true) then
    perform register.refuse_edit(format('%s %s is not there from %s until %s', p_unit_type, p_unit_id, p_valid_from,
                                        p_valid_until));
  end if;
  return v_times;
end;
$$;
