-- unrelate: end the influence of a legal unit on another for a period; without a type, of all types.
--
--   locks   both units
--   raises  RG008 the edit is invalid; RG022 the period is invalid
create or replace function register.unrelate(
  p_influencing_id  integer,
  p_influenced_id   integer,
  p_type            text default null,
  p_valid_from      date default null,
  p_valid_until     date default 'infinity'
)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_rule   text;
  v_column text;
begin
  p_valid_from := coalesce(p_valid_from, register.today());
  perform register.require_period(p_valid_from, p_valid_until);
  perform register.lock_units(array[p_influencing_id, p_influenced_id], null);
  if register.cut_slices('legal_relationship', 'influencing_id', array[p_influencing_id], p_valid_from, p_valid_until,
                         jsonb_strip_nulls(jsonb_build_object('influenced_id', p_influenced_id,
                                                              'type_id', register.code_id('rel_type', p_type))))
     = 0 then
    perform register.refuse_edit('the units are not related in that time');
  end if;
exception when check_violation or not_null_violation or unique_violation or numeric_value_out_of_range then
  get stacked diagnostics v_rule = constraint_name, v_column = column_name;
  perform register.refuse_edit(coalesce(register.refusal_text(v_rule, v_column), sqlerrm));
end;
$$;
