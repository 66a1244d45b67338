-- read_periods: what each row of a job is valid for: the dates of the job, or of the row. The last day of a file is inclusive; none
-- means an open end. problem: by our columns.
create or replace function register.read_periods(p_job_id integer)
  returns table (row_no integer, valid_from date, valid_until date, problem jsonb)
  language sql
  stable
  set search_path = pg_catalog, pg_temp
  set jit = off
as $$
  select u.row_no, d.first, d.until,
         case when j.valid_from is not null then null
              when u.valid_from is null then '{"valid_from": "the first day is missing"}'::jsonb
              when d.first is null or not isfinite(d.first)
                then jsonb_build_object('valid_from', format('%s is not a day', u.valid_from))
              when d.until is null then jsonb_build_object('valid_to', format('%s is not a day', u.valid_to))
              when d.first >= d.until
                then (select jsonb_object_agg(k, format('the last day %s is before the first day %s', u.valid_to, u.valid_from))
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
