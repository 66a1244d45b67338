-- remaining_primaries: patches, by table, for the units that become primary when one leaves what it belongs to for some
-- time: in an enterprise the only legal unit that remains, else the only establishment; in a legal unit its first
-- establishment, for that describes nothing. p_enterprise_id: the enterprise that the unit goes to.
--
--   raises  RG019 several units could be the next primary one
create or replace function register.remaining_primaries(
  p_unit_type      text,
  p_unit_id        integer,
  p_times          datemultirange,
  p_enterprise_id  integer default null
)
  returns jsonb
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_patches jsonb := '{"legal_unit": [], "establishment": []}';
  v_left    record;
  v_type    text;
  v_other   record;
  v_need    datemultirange;
  v_given   datemultirange;
  v_times   datemultirange;
begin
  for v_left in
    select p.flag, p.owner_id, range_agg(daterange(p.valid_from, p.valid_until)) * p_times as times
      from (select 'primary_for_enterprise' as flag, l.enterprise_id as owner_id, l.valid_from, l.valid_until
              from register.legal_unit as l
             where p_unit_type = 'legal_unit' and l.id = p_unit_id and l.primary_for_enterprise
               and l.enterprise_id is distinct from p_enterprise_id
            union all
            select case when e.primary_for_enterprise then 'primary_for_enterprise' else 'primary_for_legal_unit' end,
                   coalesce(e.enterprise_id, e.legal_unit_id), e.valid_from, e.valid_until
              from register.establishment as e
             where p_unit_type = 'establishment' and e.id = p_unit_id
               and (e.primary_for_enterprise or e.primary_for_legal_unit)) as p
     group by p.flag, p.owner_id
  loop
    v_need := v_left.times;
    foreach v_type in array '{legal_unit,establishment}'::text[] loop
      v_given := '{}';
      if v_type <> p_unit_type then
        -- Primary units of the other table: a legal unit describes an enterprise before any establishment does.
        v_need := v_need - coalesce((select range_agg(c.primary_times)
                                       from register.primary_candidates(v_type, v_left.flag, v_left.owner_id) as c),
                                    '{}');
        continue when v_type = 'legal_unit';
      end if;
      for v_other in
        select c.id, c.times
          from register.primary_candidates(v_type, v_left.flag, v_left.owner_id) as c
         where (v_type, c.id) <> (p_unit_type, p_unit_id)
         order by c.first_day, c.id
      loop
        v_times := v_other.times * v_need;
        if v_left.flag = 'primary_for_enterprise' and v_times && v_given then
          raise exception using
            errcode = 'RG019',
            message = format('enterprise %s keeps several %ss, and its primary one leaves', v_left.owner_id,
                             replace(v_type, '_', ' ')),
            hint = 'Choose its next primary unit first: catchment register edit primary UNIT.';
        end if;
        v_times := v_times - v_given;
        v_given := v_given + v_times;
        v_patches := jsonb_set(v_patches, array[v_type], v_patches -> v_type || coalesce(
          (select jsonb_agg(jsonb_build_object('id', v_other.id, v_left.flag, true, 'valid_from', lower(t),
                                               'valid_until', coalesce(upper(t), 'infinity')))
             from unnest(v_times) as t), '[]'));
      end loop;
      v_need := v_need - v_given;
    end loop;
  end loop;
  return v_patches;
end;
$$;
