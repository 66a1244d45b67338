-- find_subject: the subject of a question: null is the register, statistical_unit all units, statistical_history,
-- statistical_unit_facet and statistical_history_facet a report; else a unit, as find_unit takes it, or one that is
-- published and no longer in the base data. A unit comes with all that it is made from: changes go upwards only, see
-- effective_units.
--
--   raises  RG024 the identifier matches no unit or several
--   plan    indexed
create or replace function register.find_subject(p_of text)
  returns register.subject
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_type           text;
  v_id             integer;
  v_legal_units    integer[] := '{}';
  v_establishments integer[] := '{}';
begin
  if p_of is null then
    return row('register', 'the register', null, null, null, null)::register.subject;
  elsif p_of = 'statistical_unit' then
    return row('units', p_of, null, null, null, null)::register.subject;
  elsif p_of in ('statistical_history', 'statistical_unit_facet', 'statistical_history_facet') then
    return row('report', p_of, null, null, null, null)::register.subject;
  end if;

  if p_of ~ '^(legal_unit|establishment|enterprise|power_group)/[0-9]{1,9}$' then
    select r.unit_type, r.unit_id into v_type, v_id
      from register.statistical_unit_row as r
     where r.unit_type = split_part(p_of, '/', 1) and r.unit_id = split_part(p_of, '/', 2)::integer
     limit 1;
  end if;
  if v_id is null then
    select f.unit_type, f.unit_id into v_type, v_id from register.find_unit(p_of) as f;
  end if;

  if v_type = 'enterprise' then
    v_legal_units := array(select u.id from register.legal_unit as u where u.enterprise_id = v_id);
    v_establishments := array(select e.id from register.establishment as e where e.enterprise_id = v_id);
  elsif v_type = 'power_group' then
    v_legal_units := array(select u.id
                             from register.legal_relationship as r
                            cross join lateral (values (r.influencing_id), (r.influenced_id)) as u (id)
                            where r.derived_power_group_id = v_id);
  elsif v_type = 'legal_unit' then
    v_legal_units := array[v_id];
  else
    v_establishments := array[v_id];
  end if;
  v_establishments := v_establishments || array(select e.id from register.establishment as e
                                                 where e.legal_unit_id = any (v_legal_units));
  return row('unit', v_type || '/' || v_id, register.id_ranges(v_establishments), register.id_ranges(v_legal_units),
             case when v_type = 'enterprise' then int4multirange(int4range(v_id, v_id, '[]')) else '{}' end,
             case when v_type = 'power_group' then int4multirange(int4range(v_id, v_id, '[]')) else '{}' end)
           ::register.subject;
end;
$$;
