-- dated_rows: the rows of a job with their identifiers and what each is valid for: the dates of the job, or of the row.
-- The last day of a file is inclusive; none means an open end. Problems are by our columns: those of reading, and those
-- of the dates. Inlined, therefore without a SET clause.
create or replace function register.dated_rows(p_job_id integer)
  returns table (
    row_no integer, ident text[], owner_ident text[], other_ident text[], valid_from date, valid_until date,
    read_problem jsonb, period_problem jsonb
  )
  language sql stable
as $$
  select u.row_no, u.ident, u.owner_ident, u.other_ident, d.first, d.until, u.problem,
         case when j.valid_from is not null then null
              when u.valid_from is null then '{"valid_from": "the first day is missing"}'::jsonb
              when d.first is null or not isfinite(d.first)
                then jsonb_build_object('valid_from', format('%s is not a day', u.valid_from))
              when d.first = '9999-12-31' then jsonb_build_object('valid_from', format('%s is too late', u.valid_from))
              when d.until is null then jsonb_build_object('valid_to', format('%s is not a day', u.valid_to))
              when d.until > '9999-12-30' and d.until < 'infinity'
                then jsonb_build_object('valid_to', format('%s is too late: leave it empty for an open end',
                                                           u.valid_to))
              when d.first >= d.until
                then (select jsonb_object_agg(k, format('the last day %s is before the first day %s', u.valid_to,
                                                        u.valid_from))
                        from unnest('{valid_from,valid_to}'::text[]) as k)
         end
    from register.import_job as j
    join register.import_upload as u on u.job_id = j.id
   cross join lateral (
     select coalesce(j.valid_from, register.parse_date(u.valid_from)) as first,
            case when j.valid_from is not null then j.valid_until
                 when u.valid_to is null then 'infinity'
                 else register.parse_date(u.valid_to) + 1 end as until) as d
   where j.id = p_job_id;
$$;
