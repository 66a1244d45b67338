-- link_relationships: link each row to the legal units that it relates, by their identifiers. Rows that influence the
-- same unit are in one batch: together they may give it two primary influencers at a time.
--
--   plan    no_jit, indexed, hashed, memory_128
create or replace function register.link_relationships(p_job_id integer)
  returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_job        register.import_job;
  v_types      integer[] := register.ident_type_ids(p_job_id);
  v_influences text[] := register.ident_columns(p_job_id, 'influencing_');
  v_influenced text[] := register.ident_columns(p_job_id, 'influenced_');
begin
  select j.* into v_job from register.import_job as j where j.id = p_job_id;
  insert into register.import_link (job_id, row_no, batch_seq, owner_id, other_id, is_new, valid_from, valid_until,
                                    problem)
  with row as materialized (
    select r.row_no, r.owner_ident, r.other_ident, r.valid_from, r.valid_until, r.read_problem, r.period_problem
      from register.dated_rows(p_job_id) as r
  ),
  ident as materialized (
    select r.row_no, false as is_influenced, v_types[i.n] as type_id, i.value as ident
      from row as r cross join lateral unnest(r.owner_ident) with ordinality as i (value, n)
     where i.value is not null
    union all
    select r.row_no, true, v_types[i.n], i.value
      from row as r cross join lateral unnest(r.other_ident) with ordinality as i (value, n)
     where i.value is not null
  ),
  holder as materialized (
    select e.type_id, e.ident, e.legal_unit_id
      from register.external_ident as e
     where e.type_id = any (v_types)
       and e.ident = any (array(select distinct i.ident from ident as i))
  ),
  side as materialized (
    select i.row_no, i.is_influenced, min(e.legal_unit_id) as unit_id,
           case when count(e.legal_unit_id) < count(*) then 'there is no such legal unit'
                when count(distinct e.legal_unit_id) > 1
                  then 'the identifiers belong to different legal units' end as text
      from ident as i
      left join holder as e on e.type_id = i.type_id and e.ident = i.ident
     group by i.row_no, i.is_influenced
  ),
  linked as (
    select r.*, a.unit_id as owner_id, b.unit_id as other_id,
           case when a.row_no is null then 'the influencing unit is missing' else a.text end as owner_text,
           case when b.row_no is null then 'the influenced unit is missing'
                when a.unit_id = b.unit_id then 'a unit cannot influence itself'
                else b.text end as other_text,
           coalesce(b.unit_id, -r.row_no) as family
      from row as r
      left join side as a on a.row_no = r.row_no and not a.is_influenced
      left join side as b on b.row_no = r.row_no and b.is_influenced
  ),
  numbered as (
    select l.*, row_number() over (order by l.first_row_no, l.row_no) as number
      from (select l.*, min(l.row_no) over (partition by l.family) as first_row_no from linked as l) as l
  )
  select p_job_id, n.row_no, 1 + (min(n.number) over (partition by n.family)
                                  - 1) / (v_job.snapshot ->> 'batch_rows')::integer,
         n.owner_id, n.other_id, false, n.valid_from, n.valid_until,
         case when n.read_problem is not null then n.read_problem
              when num_nonnulls(n.period_problem, n.owner_text, n.other_text) > 0
              then coalesce(n.period_problem, '{}')
                   || coalesce(register.ident_problem(v_influences, n.owner_ident, n.owner_text), '{}')
                   || coalesce(register.ident_problem(v_influenced, n.other_ident, n.other_text), '{}') end
    from numbered as n;
end;
$$;
