-- find_unit: the unit that a text names: legal_unit/17, tax_ident:123, or 123 if only one unit has such an identifier.
--
--   raises  RG024 the identifier matches no unit or several
create or replace function register.find_unit(
  p_text            text,
  out unit_type     text,
  out unit_id       integer
)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_count integer;
begin
  if p_text ~ '^(legal_unit|establishment|enterprise|power_group)/[0-9]{1,9}$' then
    unit_type := split_part(p_text, '/', 1);
    unit_id := split_part(p_text, '/', 2)::integer;
    if (case unit_type
         when 'legal_unit'    then not exists (select from register.legal_unit as l where l.id = unit_id)
         when 'establishment' then not exists (select from register.establishment as e where e.id = unit_id)
         when 'enterprise'    then not exists (select from register.enterprise as n where n.id = unit_id)
         when 'power_group'   then not exists (select from register.power_group as p where p.id = unit_id)
       end) then
      perform register.refuse_edit(format('there is no %s', replace(p_text, '/', ' ')), p_code => 'RG024');
    end if;
    return;
  end if;
  select min(u.unit_type), min(u.unit_id), count(*) into unit_type, unit_id, v_count
    from (select case when e.legal_unit_id is not null then 'legal_unit'
                      when e.establishment_id is not null then 'establishment'
                      when e.enterprise_id is not null then 'enterprise' else 'power_group' end as unit_type,
                 coalesce(e.legal_unit_id, e.establishment_id, e.enterprise_id, e.power_group_id) as unit_id
            from register.external_ident as e
            join register.external_ident_type as t on t.id = e.type_id
           where e.person_id is null
             and (e.ident = p_text or t.code || ':' || e.ident = p_text)
             and e.ident in (p_text, substr(p_text, position(':' in p_text) + 1))
          union
          select 'power_group', p.id from register.power_group as p where p.ident = p_text) as u;
  if v_count = 0 then
    perform register.refuse_edit(format('there is no unit %s', p_text), 'Write tax_ident:123, 123, or legal_unit/17.',
                                 'RG024');
  elsif v_count > 1 then
    perform register.refuse_edit(format('%s units have the identifier %s', v_count, p_text),
                                 'Name its type, as tax_ident:123, or the unit, as legal_unit/17.', 'RG024');
  end if;
end;
$$;
