-- end_unit: end a unit on the day before p_date, with its details, its relationships, and the establishments of a legal
-- unit as far as they belong to it. death_date says when a unit died; this says until when the register has it. Where
-- it was the primary one and one other unit remains, that becomes primary.
--
--   locks   establishments, then the legal unit
--   raises  RG008 the edit is invalid; RG019 several units could be the next primary one; RG022 the period
--           is invalid
create or replace function register.end_unit(
  p_unit_type  text,
  p_unit_id    integer,
  p_date       date
)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_slice  record;
  v_next   jsonb;
  v_rule   text;
  v_column text;
begin
  perform register.unit_times(p_unit_type, p_unit_id, p_date, 'infinity');
  if not exists (select from register.legal_unit as l
                  where p_unit_type = 'legal_unit' and l.id = p_unit_id and l.valid_from < p_date
                 union all
                 select from register.establishment as e
                  where p_unit_type = 'establishment' and e.id = p_unit_id and e.valid_from < p_date) then
    perform register.refuse_edit(format('%s %s begins on or after %s, so nothing would be left', p_unit_type, p_unit_id,
                                        p_date),
                                 'Delete it instead.');
  end if;
  v_next := register.remaining_primaries(p_unit_type, p_unit_id,
                                         datemultirange(daterange(p_date, 'infinity')));
  if p_unit_type = 'establishment' then
    perform register.lock_units(null, array[p_unit_id]);
    perform register.cut_details('establishment_id', array[p_unit_id], p_date);
    perform register.cut_slices('establishment', 'id', array[p_unit_id], p_date);
    perform register.patch_slices('establishment', 'id', v_next -> 'establishment', '{}');
    return;
  end if;
  for v_slice in
    select e.id, greatest(e.valid_from, p_date) as valid_from, e.valid_until,
           not exists (select from register.establishment as o
                        where o.id = e.id and (o.valid_from < p_date
                                               or o.legal_unit_id is distinct from p_unit_id)) as goes
      from register.establishment as e
     where e.legal_unit_id = p_unit_id and e.valid_until > p_date
     order by e.id, e.valid_from
       for no key update
  loop
    if v_slice.goes then
      perform register.drop_names('establishment_id', array[v_slice.id]);
    end if;
    perform register.cut_details('establishment_id', array[v_slice.id], v_slice.valid_from, v_slice.valid_until);
    perform register.cut_slices('establishment', 'id', array[v_slice.id], v_slice.valid_from, v_slice.valid_until);
  end loop;
  perform register.lock_units(array[p_unit_id], null);
  perform register.cut_details('legal_unit_id', array[p_unit_id], p_date);
  perform register.cut_slices('legal_unit', 'id', array[p_unit_id], p_date);
  perform register.patch_slices(n.key, 'id', n.value, '{}') from jsonb_each(v_next) as n;
exception when check_violation or not_null_violation or unique_violation or numeric_value_out_of_range then
  get stacked diagnostics v_rule = constraint_name, v_column = column_name;
  perform register.refuse_edit(coalesce(register.refusal_text(v_rule, v_column), sqlerrm));
end;
$$;
