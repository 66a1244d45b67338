-- choose_primary: which establishments of the file are the primary one of their legal unit. A row is a candidate if no
-- other establishment is primary for that legal unit during its time; what the file itself says about the others
-- counts, not what they were. Candidates whose times touch or overlap make an island; the unit that was primary before,
-- else the first row, is primary in it. Rows come marked as primary: most legal units have one establishment, and
-- nothing has to be done.
--
--   plan    no_jit, indexed, hashed, memory_128
create or replace function register.choose_primary(p_job_id integer)
  returns void
  language sql set search_path = pg_catalog, pg_temp
as $$
  with file as materialized (
    select l.row_no, l.batch_seq, l.unit_id, l.owner_id, l.valid_from, l.valid_until
      from register.import_link as l
     where l.job_id = p_job_id
       and l.problem is null
       and l.owner_id is not null
  ),
  old as materialized (
    select e.id as unit_id, e.legal_unit_id as owner_id, e.valid_from, e.valid_until
      from register.establishment as e
     where e.legal_unit_id = any (array(select f.owner_id from file as f))
       and e.primary_for_legal_unit
  ),
  contested as (
    select f.owner_id from file as f group by f.owner_id having count(*) > 1
    union
    select o.owner_id from old as o
  ),
  row as materialized (
    select f.* from file as f where exists (select from contested as c where c.owner_id = f.owner_id)
  ),
  -- Units of the file are what the file says, for the time it speaks of.
  spoken as (
    select f.unit_id, range_agg(daterange(f.valid_from, f.valid_until)) as times
      from file as f
     where exists (select from old as o where o.unit_id = f.unit_id)
     group by f.unit_id
  ),
  taken as materialized (
    select o.owner_id, o.unit_id, datemultirange(daterange(o.valid_from, o.valid_until))
           - coalesce(s.times, '{}') as times
      from old as o
      left join spoken as s on s.unit_id = o.unit_id
  ),
  candidate as (
    select r.*, exists (select from old as o
                         where o.owner_id = r.owner_id and o.unit_id = r.unit_id
                           and o.valid_from < r.valid_until and r.valid_from < o.valid_until) as was_primary
      from row as r
     where not exists (select from taken as t
                        where t.owner_id = r.owner_id and t.unit_id <> r.unit_id
                          and t.times && daterange(r.valid_from, r.valid_until))
  ),
  island as (
    select c.*, count(*) filter (where c.begins) over (partition by c.owner_id order by c.valid_from,
                                                       c.row_no) as island
      from (select c.*, (c.valid_from > max(c.valid_until) over (partition by c.owner_id order by c.valid_from, c.row_no
                                                                 rows between unbounded preceding and 1 preceding))
                        is not false as begins
              from candidate as c) as c
  ),
  chosen as materialized (
    select i.row_no
      from (select i.row_no, i.unit_id,
                   first_value(i.unit_id) over (partition by i.owner_id, i.island order by i.was_primary desc,
                                                i.row_no) as first
              from island as i) as i
     where i.unit_id = i.first
  )
  update register.import_link as l
     set is_primary = false
    from row as r
   where l.job_id = p_job_id
     and l.batch_seq = r.batch_seq
     and l.row_no = r.row_no
     and not exists (select from chosen as c where c.row_no = r.row_no);
$$;
