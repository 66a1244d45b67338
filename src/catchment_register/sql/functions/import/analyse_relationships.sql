-- analyse_relationships: analyse the rows of a batch about influence. All rows about one influenced unit are in this
-- batch, so two primary influencers at a time are found here; both rows fail.
--
--   plan    no_jit, indexed, hashed, memory_64
create or replace function register.analyse_relationships(
  p_job_id     integer,
  p_batch_seq  integer
)
  returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_job  register.import_job;
  v_rows integer[];
begin
  select j.* into v_job from register.import_job as j where j.id = p_job_id;
  select array_agg(l.row_no) into v_rows
    from register.import_link as l
   where l.job_id = p_job_id and l.batch_seq = p_batch_seq;
  insert into register.import_data (job_id, batch_seq, row_no, owner_id, other_id, is_new, operation, valid_from,
                                    valid_until, data_source_id, rel_type_id, percentage, edit_comment, has_error,
                                    errors, warnings)
  with row as materialized (
    select l.row_no, l.owner_id, l.other_id, l.valid_from, l.valid_until, l.problem, u.rel_type_code, t.id as type_id,
           coalesce(t.primary_influencer_only, false) as is_primary, u.percentage as percentage_text,
           register.parse_number(u.percentage) as percentage, coalesce(s.id, v_job.data_source_id) as data_source_id,
           u.data_source_code, u.edit_comment,
           exists (select from register.legal_relationship as o
                    where o.influencing_id = l.owner_id and o.influenced_id = l.other_id
                      and o.type_id = t.id) as is_known
      from register.import_link as l
      join register.import_upload as u on u.job_id = p_job_id and u.row_no = any (v_rows) and u.row_no = l.row_no
      left join register.legal_rel_type as t on t.code = u.rel_type_code and t.enabled
      left join register.code_key as s on s.kind = 'data_source' and s.key = u.data_source_code
     where l.job_id = p_job_id
       and l.batch_seq = p_batch_seq
  ),
  cover as materialized (
    select l.id, range_agg(daterange(l.valid_from, l.valid_until)) as times
      from register.legal_unit as l
     where l.id = any (array(select r.owner_id from row as r union select r.other_id from row as r))
     group by l.id
  ),
  rival as materialized (
    select r.row_no,
           format('the unit has another primary influencer in that time (rows %s)',
                  register.row_list(array_agg(o.row_no))) as text
      from row as r
      join row as o on o.other_id = r.other_id and (o.owner_id, o.type_id) <> (r.owner_id, r.type_id)
                   and o.valid_from < r.valid_until and r.valid_from < o.valid_until
     where r.is_primary and o.is_primary and r.problem is null and o.problem is null
     group by r.row_no
    union all
    select r.row_no, min(format('the unit has another primary influencer in that time, from %s', o.valid_from))
      from row as r
      join register.legal_relationship as o
        on o.influenced_id = r.other_id and (o.influencing_id, o.type_id) <> (r.owner_id, r.type_id)
       and o.valid_from < r.valid_until and r.valid_from < o.valid_until
     where r.is_primary and o.primary_influencer_only and r.problem is null
       and o.influenced_id = any (array(select k.other_id from row as k))
     group by r.row_no
  ),
  judged as (
    select r.*,
           case when r.rel_type_code is null then 'a type is needed'
                when r.type_id is null then format('%s is no type of relationship', r.rel_type_code)
                when v_job.snapshot ->> 'strategy' = 'insert_only' and r.is_known then 'the relationship exists already'
                when v_job.snapshot ->> 'strategy' in ('update_only', 'replace_only') and not r.is_known
                  then 'there is no such relationship'
                else v.text end as type_error,
           case when r.percentage_text is not null and (r.percentage > 0 and r.percentage <= 100) is not true
                then format('%s is no percentage: above 0, at most 100', r.percentage_text) end as percentage_error,
           case when r.problem is null and not (coalesce(a.times @> daterange(r.valid_from, r.valid_until), false)
                                                and coalesce(b.times @> daterange(r.valid_from, r.valid_until), false))
                then format('not both units are there from %s until %s', r.valid_from, r.valid_until) end as cover_error
      from row as r
      left join (select v.row_no, min(v.text) as text from rival as v group by v.row_no) as v on v.row_no = r.row_no
      left join cover as a on a.id = r.owner_id
      left join cover as b on b.id = r.other_id
  ),
  described as (
    select j.*,
           case when j.problem ? '*' then j.problem
                when num_nonnulls(j.problem, j.type_error, j.percentage_error, j.cover_error) > 0
                then register.input_keys(
                       jsonb_strip_nulls(jsonb_build_object('rel_type_code', j.type_error,
                                                            'percentage', j.percentage_error))
                       || coalesce(register.period_problem(v_job.snapshot, j.cover_error), '{}')
                       || coalesce(j.problem, '{}'),
                       v_job.snapshot -> 'columns') end as errors
      from judged as j
  )
  select p_job_id, p_batch_seq, t.row_no, t.owner_id, t.other_id, false,
         case when t.errors is not null then 'skip'
              when v_job.snapshot ->> 'strategy' in ('insert_or_update', 'update_only') then 'update'
              else 'replace' end,
         t.valid_from, t.valid_until, t.data_source_id, t.type_id, round(t.percentage, 2), t.edit_comment,
         t.errors is not null, t.errors,
         case when t.data_source_code is not null and t.data_source_id is null
              then register.input_keys(
                     jsonb_build_object('data_source_code', format('the data source %s is not known',
                                                                   t.data_source_code)),
                     v_job.snapshot -> 'columns') end
    from described as t;
end;
$$;
