-- remaining_primaries: patches for the legal units that become primary when one leaves its enterprises for some time.
--
--   raises  RG005 when several remain at a time
create or replace function register.remaining_primaries(
  p_legal_unit_id  integer,
  p_enterprise_id  integer,
  p_times          datemultirange
)
  returns jsonb
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_patches jsonb := '[]';
  v_other   record;
  v_times   datemultirange := '{}';
begin
  for v_other in
    select o.id, a.enterprise_id, p_times * datemultirange(daterange(a.valid_from, a.valid_until))
                                          * datemultirange(daterange(o.valid_from, o.valid_until)) as times
      from register.legal_unit as a
      join register.legal_unit as o on o.enterprise_id = a.enterprise_id and o.id <> a.id
     where a.id = p_legal_unit_id and a.primary_for_enterprise and a.enterprise_id <> p_enterprise_id
  loop
    if v_other.times && v_times then
      raise exception using
        errcode = 'RG005',
        message = format('enterprise %s keeps several legal units, and its primary one leaves', v_other.enterprise_id),
        hint = 'Choose its next primary legal unit first: catchment register edit primary UNIT.';
    end if;
    v_times := v_times + v_other.times;
    v_patches := v_patches || coalesce(
      (select jsonb_agg(jsonb_build_object('id', v_other.id, 'primary_for_enterprise', true, 'valid_from', lower(t),
                                           'valid_until', coalesce(upper(t), 'infinity')))
         from unnest(v_other.times) as t), '[]');
  end loop;
  return v_patches;
end;
$$;
