-- promote_establishments: where a row that was to be the primary establishment of its legal unit failed and nobody else
-- is primary, another row of the file takes its place: of those whose times touch, the first.
--
--   locks   the establishments of those legal units, then the legal units
--   plan    no_jit
create or replace function register.promote_establishments(p_job_id integer)
  returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_owners integer[];
  v_rows   jsonb;
begin
  v_owners := array(select distinct e.legal_unit_id
                      from register.establishment as e
                     where e.legal_unit_id = any (array(select d.owner_id from register.import_data as d
                                                         where d.job_id = p_job_id and d.has_error and d.is_primary))
                       and not e.primary_for_legal_unit);
  if v_owners = '{}' then
    return;
  end if;
  perform register.lock_units(v_owners, array(select distinct e.id from register.establishment as e
                                               where e.legal_unit_id = any (v_owners)));
  with candidate as (
    select d.row_no, d.unit_id, d.owner_id, d.valid_from, d.valid_until
      from register.import_data as d
     where d.job_id = p_job_id
       and d.owner_id = any (v_owners)
       and not d.has_error
       and not exists (select from register.establishment as o
                        where o.legal_unit_id = d.owner_id and o.primary_for_legal_unit and o.id <> d.unit_id
                          and o.valid_from < d.valid_until and d.valid_from < o.valid_until)
  ),
  island as (
    select c.*, count(*) filter (where c.begins) over (partition by c.owner_id order by c.valid_from,
                                                       c.row_no) as island
      from (select c.*, (c.valid_from > max(c.valid_until) over (partition by c.owner_id order by c.valid_from, c.row_no
                                                                 rows between unbounded preceding and 1 preceding))
                        is not false as begins
              from candidate as c) as c
  ),
  chosen as (
    select i.*, first_value(i.unit_id) over (partition by i.owner_id, i.island order by i.row_no) as first
      from island as i
  )
  select jsonb_agg(jsonb_build_object('id', e.id, 'valid_from', greatest(e.valid_from, c.valid_from),
                                      'valid_until', least(e.valid_until, c.valid_until)))
    into v_rows
    from chosen as c
    join register.establishment as e
      on e.legal_unit_id = c.owner_id and e.id = c.unit_id and not e.primary_for_legal_unit
     and e.valid_from < c.valid_until and c.valid_from < e.valid_until
   where c.unit_id = c.first;
  perform register.patch_slices('establishment', 'id', v_rows, '{"primary_for_legal_unit": true}', j.created_by, j.note)
     from register.import_job as j
    where j.id = p_job_id
      and v_rows is not null;
end;
$$;
