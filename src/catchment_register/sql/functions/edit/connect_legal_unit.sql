-- connect_legal_unit: move a legal unit to another enterprise for a period; null creates a new one for it. Where it was
-- the primary unit and one other unit remains, that becomes primary. In its new enterprise it is primary where no other
-- legal unit is. An enterprise without units is deleted. Returns the enterprise.
--
--   locks   the legal unit
--   raises  RG008 the edit is invalid; RG019 several units could be the next primary one; RG022 the period
--           is invalid; RG024 the identifier matches no unit or several
create or replace function register.connect_legal_unit(
  p_legal_unit_id  integer,
  p_enterprise_id  integer default null,
  p_valid_from     date default null,
  p_valid_until    date default 'infinity',
  p_comment        text default null
)
  returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_times  datemultirange;
  v_taken  datemultirange;
  v_moves  jsonb;
  v_next   jsonb;
  v_left   integer[];
  v_rule   text;
  v_column text;
begin
  perform register.lock_units(array[p_legal_unit_id], null);
  v_times := register.unit_times('legal_unit', p_legal_unit_id, coalesce(p_valid_from, register.today()),
                                 p_valid_until);
  if p_enterprise_id is null then
    insert into register.enterprise (edit_comment) values (p_comment) returning id into p_enterprise_id;
  elsif not exists (select from register.enterprise as e where e.id = p_enterprise_id) then
    perform register.refuse_edit(format('there is no enterprise %s', p_enterprise_id), p_code => 'RG024');
  end if;
  select coalesce(range_agg(daterange(l.valid_from, l.valid_until)), '{}') into v_taken
    from register.legal_unit as l
   where l.enterprise_id = p_enterprise_id and l.primary_for_enterprise and l.id <> p_legal_unit_id;
  select jsonb_agg(jsonb_build_object('id', l.id, 'enterprise_id', p_enterprise_id, 'primary_for_enterprise', f.is_free,
                                      'valid_from', lower(t), 'valid_until', coalesce(upper(t), 'infinity'))),
         array_agg(distinct l.enterprise_id)
    into v_moves, v_left
    from register.legal_unit as l
   cross join lateral (values (true, v_times * datemultirange(daterange(l.valid_from, l.valid_until)) - v_taken),
                              (false, v_times * datemultirange(daterange(l.valid_from, l.valid_until)) * v_taken))
              as f (is_free, times)
   cross join lateral unnest(f.times) as t
   where l.id = p_legal_unit_id
     and l.enterprise_id <> p_enterprise_id;
  if v_moves is null then
    return p_enterprise_id;
  end if;

  v_next := register.remaining_primaries('legal_unit', p_legal_unit_id, v_times, p_enterprise_id);
  -- The unit and the one that takes its place change in one statement.
  perform register.patch_slices('legal_unit', 'id', v_moves || (v_next -> 'legal_unit'), '{}', p_comment => p_comment);
  perform register.patch_slices('establishment', 'id', v_next -> 'establishment', '{}', p_comment => p_comment);
  perform register.drop_empty_enterprises(v_left);
  return p_enterprise_id;
exception when check_violation or not_null_violation or unique_violation or numeric_value_out_of_range then
  get stacked diagnostics v_rule = constraint_name, v_column = column_name;
  perform register.refuse_edit(coalesce(register.refusal_text(v_rule, v_column), sqlerrm));
end;
$$;
