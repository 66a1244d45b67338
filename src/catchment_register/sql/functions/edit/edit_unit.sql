-- edit_unit: change the data of a unit for a period: {"name": "New", "employees": "12", "postal_postcode": ""}. The
-- words are those of import files; a value is a text, a number, or true or false for a statistic of that type; blanks
-- around a text do not count, and an empty text removes the value. Details are changed where the unit is there. An
-- enterprise has a short_name, a power group a name and a short_name; identifiers and tags go to any unit and have no
-- dates.
--
--   locks   the unit
--   raises  RG004 the code is not in its list; RG008 the edit is invalid; RG017 the value does not fit its
--           column; RG022 the period is invalid; RG024 the identifier matches no unit or several; what the guards raise
create or replace function register.edit_unit(
  p_unit_type    text,
  p_unit_id      integer,
  p_changes      jsonb,
  p_valid_from   date default null,
  p_valid_until  date default 'infinity',
  p_comment      text default null
)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_from    date := coalesce(p_valid_from, register.today());
  v_owner   text := p_unit_type || '_id';
  v_rest    jsonb;
  v_wrong   text;
  v_column  text;
  v_change  record;
begin
  perform register.check_changes(p_unit_type, p_unit_id, p_changes);
  perform register.require_period(v_from, p_valid_until);
  -- As cells of files are.
  p_changes := register.trimmed(p_changes);
  -- Identifiers, tags and statistics are recognised by the lists of the register.
  v_rest := register.edit_names(v_owner, p_unit_id, p_changes, p_comment);
  if p_unit_type in ('enterprise', 'power_group') then
    v_rest := register.edit_heading(p_unit_type, p_unit_id, v_rest, p_comment);
  elsif v_rest <> '{}' then
    perform register.lock_units(case p_unit_type when 'legal_unit' then array[p_unit_id] end,
                                case p_unit_type when 'establishment' then array[p_unit_id] end);
    v_rest := register.edit_statistics(p_unit_type, p_unit_id, v_rest, v_from, p_valid_until, p_comment);
    for v_change in
      select c.table_name, c.type,
             coalesce(jsonb_object_agg(c.column_name, register.edit_value(c.word, c.kind, r.value))
                      filter (where r.value <> ''),
                      '{}') as changes,
             coalesce(array_agg(c.column_name) filter (where r.value = ''), '{}') as clears
        from jsonb_each_text(v_rest) as r
        join register.edit_columns() as c on c.word = r.key
       group by c.table_name, c.type
       order by c.table_name = 'unit' desc, c.table_name, c.type
    loop
      perform register.edit_slices(p_unit_type, p_unit_id, v_change.table_name, v_change.type, v_change.changes,
                                   v_change.clears, v_from, p_valid_until, p_comment);
    end loop;
    v_rest := (select jsonb_object_agg(r.key, r.value) from jsonb_each(v_rest) as r
                where not exists (select from register.edit_columns() as c where c.word = r.key));
  end if;
  select string_agg(k, ', ') into v_wrong from jsonb_object_keys(coalesce(v_rest, '{}')) as k;
  if v_wrong is not null then
    perform register.refuse_edit(format('%s has no %s', p_unit_type, v_wrong),
                                 'Use the names of columns of import files, codes of statistics, or types of '
                                 'identifiers.');
  end if;
exception when check_violation or not_null_violation or unique_violation or numeric_value_out_of_range then
  get stacked diagnostics v_wrong = constraint_name, v_column = column_name;
  perform register.refuse_edit(coalesce(register.refusal_text(v_wrong, v_column), sqlerrm));
end;
$$;
