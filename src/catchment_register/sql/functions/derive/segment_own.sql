-- segment_own: cut the time of establishments, then of legal units, at every day on which something about them begins
-- or ends: their slices and details, and for a legal unit the segments of its establishments while they belong to it. A
-- segment lies within one slice; where a unit does not exist there is none. Details reach no further than slices, so no
-- clipping is needed.
--
--   reads   pg_temp.b_activity, pg_temp.b_contact, pg_temp.b_location, pg_temp.b_person, pg_temp.b_segment,
--           pg_temp.b_slice, pg_temp.b_stat
--   writes  pg_temp.b_segment
--   plan    no_jit, generic, hashed
create or replace function register.segment_own()
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_type text;
begin
  foreach v_type in array array['establishment', 'legal_unit'] loop
    insert into pg_temp.b_segment
    with span as (
      select s.unit_id, s.valid_from, s.valid_until from pg_temp.b_slice as s where s.unit_type = v_type
      union
      select d.unit_id, d.valid_from, d.valid_until from pg_temp.b_activity as d where d.unit_type = v_type
      union
      select d.unit_id, d.valid_from, d.valid_until from pg_temp.b_location as d where d.unit_type = v_type
      union
      select d.unit_id, d.valid_from, d.valid_until from pg_temp.b_contact as d where d.unit_type = v_type
      union
      select d.unit_id, d.valid_from, d.valid_until from pg_temp.b_stat as d where d.unit_type = v_type
      union
      select d.unit_id, d.valid_from, d.valid_until from pg_temp.b_person as d where d.unit_type = v_type
      union
      select e.legal_unit_id, g.valid_from, g.valid_until
        from pg_temp.b_slice as e
        join pg_temp.b_segment as g on g.unit_type = e.unit_type and g.unit_id = e.unit_id
                                   and e.valid_from <= g.valid_from and g.valid_until <= e.valid_until
       where v_type = 'legal_unit' and e.unit_type = 'establishment' and e.legal_unit_id is not null
    ),
    point as (
      select p.unit_id, p.valid_from as at from span as p union select p.unit_id, p.valid_until from span as p
    ),
    stretch as (
      select p.unit_id, p.at as valid_from, lead(p.at) over (partition by p.unit_id order by p.at) as valid_until
        from point as p
    )
    select v_type, s.unit_id, s.valid_from, s.valid_until, coalesce(lead(s.valid_from) over w, 'infinity'),
           lead(s.valid_from) over w is null and lag(s.valid_from) over w is null
      from stretch as s
      join pg_temp.b_slice as u on u.unit_type = v_type and u.unit_id = s.unit_id
                               and u.valid_from <= s.valid_from and s.valid_until <= u.valid_until
    window w as (partition by s.unit_id order by s.valid_from);
  end loop;
end;
$$;
