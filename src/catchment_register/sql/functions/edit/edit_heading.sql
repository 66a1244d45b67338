-- edit_heading: change the names of an enterprise or a power group; returns the remaining changes.
--
--   raises  RG017 the value does not fit its column
create or replace function register.edit_heading(
  p_unit_type  text,
  p_unit_id    integer,
  p_changes    jsonb,
  p_comment    text
)
  returns jsonb
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  if register.length_problem(p_changes ->> 'name', 256) is not null then
    perform register.refuse_edit(format('name %s', register.length_problem(p_changes ->> 'name', 256)),
                                 p_code => 'RG017');
  end if;
  case p_unit_type
    when 'enterprise' then
      update register.enterprise as e
         set short_name = nullif(p_changes ->> 'short_name', ''), edit_at = clock_timestamp(), edit_by = session_user,
             edit_comment = p_comment
       where e.id = p_unit_id and p_changes ? 'short_name';
      return p_changes - 'short_name';
    when 'power_group' then
      update register.power_group as p
         set name = case when p_changes ? 'name' then nullif(p_changes ->> 'name', '') else p.name end,
             short_name = case when p_changes ? 'short_name' then nullif(p_changes ->> 'short_name', '')
                               else p.short_name end,
             edit_at = clock_timestamp(), edit_by = session_user, edit_comment = p_comment
       where p.id = p_unit_id and p_changes ?| array['name', 'short_name'];
      return p_changes - 'name' - 'short_name';
  end case;
end;
$$;
