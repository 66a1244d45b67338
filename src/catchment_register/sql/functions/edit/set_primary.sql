-- set_primary: make a unit the primary one of its owner for a period; the others are not primary.
--
--   locks   the unit
--   raises  RG008 the edit is invalid; RG022 the period is invalid
create or replace function register.set_primary(
  p_unit_type    text,
  p_unit_id      integer,
  p_valid_from   date default null,
  p_valid_until  date default 'infinity',
  p_comment      text default null
)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_times   datemultirange;
  v_patches jsonb;
  v_rule    text;
  v_column  text;
begin
  perform register.lock_units(case p_unit_type when 'legal_unit' then array[p_unit_id] end,
                              case p_unit_type when 'establishment' then array[p_unit_id] end);
  v_times := register.unit_times(p_unit_type, p_unit_id, coalesce(p_valid_from, register.today()), p_valid_until);
  select jsonb_agg(jsonb_build_object('id', o.id, o.flag, o.id = p_unit_id, 'valid_from', lower(t),
                                      'valid_until', coalesce(upper(t), 'infinity')))
    into v_patches
    from (select o.id, 'primary_for_enterprise' as flag,
                 datemultirange(daterange(o.valid_from, o.valid_until))
                 * datemultirange(daterange(u.valid_from, u.valid_until)) as times
            from register.legal_unit as u
            join register.legal_unit as o on o.enterprise_id = u.enterprise_id
           where p_unit_type = 'legal_unit' and u.id = p_unit_id and (o.id = u.id or o.primary_for_enterprise)
          union all
          select o.id, case when u.legal_unit_id is not null then 'primary_for_legal_unit'
                            else 'primary_for_enterprise' end,
                 datemultirange(daterange(o.valid_from, o.valid_until))
                 * datemultirange(daterange(u.valid_from, u.valid_until))
            from register.establishment as u
            join register.establishment as o on o.legal_unit_id = u.legal_unit_id or o.enterprise_id = u.enterprise_id
           where p_unit_type = 'establishment' and u.id = p_unit_id
             and (o.id = u.id or o.primary_for_legal_unit or o.primary_for_enterprise)) as o
   cross join lateral unnest(o.times * v_times) as t;
  perform register.patch_slices(p_unit_type, 'id', v_patches, '{}', p_comment => p_comment);
exception when check_violation or not_null_violation or unique_violation or numeric_value_out_of_range then
  get stacked diagnostics v_rule = constraint_name, v_column = column_name;
  perform register.refuse_edit(coalesce(register.refusal_text(v_rule, v_column), sqlerrm));
end;
$$;
