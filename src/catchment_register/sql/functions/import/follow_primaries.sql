-- follow_primaries: legal units whose primary establishment has moved to another one by a job get the first of their
-- other establishments where none is primary, as with an edit.
--
--   locks   the establishments of those legal units, then the legal units
create or replace function register.follow_primaries(p_job_id integer)
  returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_owners integer[];
  v_rows   jsonb;
begin
  select register.id_array(coalesce(range_agg(b.left_legal_unit_ids), '{}')) into v_owners
    from register.import_batch as b
   where b.job_id = p_job_id
     and not isempty(b.left_legal_unit_ids);
  if v_owners = '{}' then
    return;
  end if;
  perform register.lock_units(v_owners, array(select distinct e.id from register.establishment as e
                                               where e.legal_unit_id = any (v_owners)));
  with unit as (
    select e.legal_unit_id as owner_id, e.id, min(e.valid_from) as first_day,
           range_agg(daterange(e.valid_from, e.valid_until)) as times,
           coalesce(range_agg(daterange(e.valid_from, e.valid_until)) filter (where e.primary_for_legal_unit), '{}')
           as primary_times
      from register.establishment as e
     where e.legal_unit_id = any (v_owners)
     group by e.legal_unit_id, e.id
  ),
  placed as (
    select u.id,
           u.times
           - (select range_agg(o.primary_times) from unit as o where o.owner_id = u.owner_id)
           - coalesce((select range_agg(o.times) from unit as o
                        where o.owner_id = u.owner_id and (o.first_day, o.id) < (u.first_day, u.id)), '{}') as free
      from unit as u
  )
  select jsonb_agg(jsonb_build_object('id', p.id, 'valid_from', lower(t),
                                      'valid_until', coalesce(upper(t), 'infinity')))
    into v_rows
    from placed as p
   cross join lateral unnest(p.free) as t;
  perform register.patch_slices('establishment', 'id', v_rows, '{"primary_for_legal_unit": true}', j.created_by, j.note)
     from register.import_job as j
    where j.id = p_job_id
      and v_rows is not null;
end;
$$;
