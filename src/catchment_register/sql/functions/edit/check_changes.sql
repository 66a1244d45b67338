-- check_changes: validate an edit: the unit must exist, and the changes must be an object of keys and values. A number
-- counts as its text; true and false are values of statistics of that type.
--
--   raises  RG008 the edit is invalid; RG024 the identifier matches no unit or several
create or replace function register.check_changes(
  p_unit_type  text,
  p_unit_id    integer,
  p_changes    jsonb
)
  returns void
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  c_hint   constant text := 'Write {"name": "New", "employees": 12, "postal_postcode": ""}; an empty text takes a '
                            'value away.';
  v_known  boolean;
  v_wrong  text;
begin
  v_known := case p_unit_type
               when 'legal_unit'    then exists (select from register.legal_unit as l where l.id = p_unit_id)
               when 'establishment' then exists (select from register.establishment as e where e.id = p_unit_id)
               when 'enterprise'    then exists (select from register.enterprise as n where n.id = p_unit_id)
               when 'power_group'   then exists (select from register.power_group as p where p.id = p_unit_id)
             end;
  if v_known is null then
    perform register.refuse_edit(format('there is no type of unit %s', coalesce(p_unit_type, 'null')),
                                 'Choose legal_unit, establishment, enterprise or power_group.');
  elsif not v_known then
    perform register.refuse_edit(format('there is no %s %s', p_unit_type, coalesce(p_unit_id::text, 'null')),
                                 p_code => 'RG024');
  elsif p_changes is null or jsonb_typeof(p_changes) <> 'object' then
    perform register.refuse_edit(format('the changes are %s, not an object of words and values',
                                        coalesce('of type ' || jsonb_typeof(p_changes), 'missing')), c_hint);
  end if;
  select format('%s = %s is of type %s, not a text or a number', c.key, c.value, jsonb_typeof(c.value)) into v_wrong
    from jsonb_each(p_changes) as c
   where jsonb_typeof(c.value) not in ('string', 'number')
     and (jsonb_typeof(c.value) <> 'boolean'
          or not exists (select from register.stat_definition as d where d.code = c.key and d.enabled
                            and d.type = 'bool'))
   order by c.key collate "C"
   limit 1;
  if v_wrong is not null then
    perform register.refuse_edit(v_wrong, c_hint);
  end if;
end;
$$;
