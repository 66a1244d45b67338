-- warn_overlaps: rows of a batch that are about the same unit, or the same relationship, at the same time: each but the
-- last is reported with the later rows that win over it. All rows of a unit are in one batch.
--
--   plan    no_jit, unlooped
create or replace function register.warn_overlaps(
  p_job_id     integer,
  p_batch_seq  integer
)
  returns void
  language sql set search_path = pg_catalog, pg_temp
as $$
  with row as (
    select d.row_no, d.valid_from, d.valid_until, min(d.row_no) over k as key, count(*) over k as rows
      from register.import_data as d
     where d.job_id = p_job_id
       and d.batch_seq = p_batch_seq
       and not d.has_error
    window k as (partition by d.unit_id, case when d.unit_id is null then d.owner_id end, d.other_id, d.rel_type_id)
  ),
  -- Rows that follow one another, as in a file of histories, are separated before any are compared.
  island as materialized (
    select r.*, count(*) filter (where r.begins) over (partition by r.key order by r.valid_from, r.row_no) as island
      from (select r.*, (r.valid_from >= max(r.valid_until) over (partition by r.key order by r.valid_from, r.row_no
                                                                  rows between unbounded preceding and 1 preceding))
                        is not false as begins
              from row as r
             where r.rows > 1) as r
  ),
  overridden as (
    select i.row_no, register.row_list(array_agg(o.row_no)) as rows
      from island as i
      join island as o on o.key = i.key and o.island = i.island
     where o.row_no > i.row_no
       and o.valid_from < i.valid_until
       and i.valid_from < o.valid_until
     group by i.row_no
  )
  update register.import_data as d
     set warnings = coalesce(d.warnings, '{}') || register.input_keys(
           register.period_problem(
             j.snapshot, format('another row is about the same %s in that time, and the later one wins (rows %s)',
                                case j.snapshot ->> 'mode' when 'legal_relationship' then 'relationship'
                                     else 'unit' end, o.rows)),
           j.snapshot -> 'columns')
    from overridden as o, register.import_job as j
   where j.id = p_job_id
     and d.job_id = p_job_id
     and d.batch_seq = p_batch_seq
     and d.row_no = o.row_no;
$$;
