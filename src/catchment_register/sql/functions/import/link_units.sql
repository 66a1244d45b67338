-- link_units: which unit each row is about, by its identifiers, over the file as a whole. A unit that nobody knows is founded by
-- the first row with its leading identifier and gets its number now; so rows of one unit find each other, and no unit is in two
-- batches. Rows that cannot be linked carry the reason, by column.
--
-- Batches: a group is what may write the same unit: the rows of an enterprise, or of the legal unit of an establishment's first
-- row.
create or replace function register.link_units(p_job_id integer)
  returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
  set enable_nestloop = off
  set enable_mergejoin = off
  set enable_sort = off
  set jit = off
  set work_mem = '256MB'
as $$
declare
  v_job     register.import_job;
  v_mode    text;
  v_makes   boolean;
  v_scans   boolean;
  v_types   integer[] := register.ident_type_ids(p_job_id);
  v_columns text[] := register.ident_columns(p_job_id, '');
  v_owners  text[] := register.ident_columns(p_job_id, 'legal_unit_');
begin
  select j.* into v_job from register.import_job as j where j.id = p_job_id;
  v_mode := v_job.snapshot ->> 'mode';
  v_makes := v_mode <> 'generic_unit' and v_job.snapshot ->> 'strategy' in ('insert_or_replace', 'insert_or_update', 'insert_only');
  -- Identifiers of a large file are found sooner by reading all there are, of some 80 bytes each, than by seeking each.
  v_scans := v_job.total_rows * 8 > pg_relation_size('register.external_ident') / 80;

  insert into register.import_link (job_id, row_no, batch_seq, unit_id, enterprise_id, owner_id, founding_row_no, is_new,
                                    is_primary, valid_from, valid_until, problem)
  with row as materialized (
    select r.row_no, r.ident, r.owner_ident, r.valid_from, r.valid_until, r.read_problem, r.period_problem
      from register.dated_rows(p_job_id) as r
  ),
  ident as materialized (
    select r.row_no, v_types[i.n] as type_id, i.n, i.value collate "C" as ident
      from row as r
     cross join lateral unnest(r.ident) with ordinality as i (value, n)
     where i.value is not null
  ),
  owner_ident as materialized (
    select r.row_no, v_types[i.n] as type_id, i.value collate "C" as ident
      from row as r
     cross join lateral unnest(r.owner_ident) with ordinality as i (value, n)
     where v_mode = 'establishment_formal'
       and i.value is not null
  ),
  sought as (
    select i.ident from ident as i
    union
    select o.ident from owner_ident as o
  ),
  holder as materialized (
    select e.type_id, e.ident, e.legal_unit_id, e.establishment_id
      from register.external_ident as e
     where not v_scans
       and e.type_id = any (v_types)
       and e.ident = any (array(select s.ident from sought as s))
    union all
    select e.type_id, e.ident, e.legal_unit_id, e.establishment_id
      from register.external_ident as e
     where v_scans
       and e.type_id = any (v_types)
  ),
  -- A unit is a number: positive for the kind of unit that the job is about. Where that may be any, establishments are negative.
  known as materialized (
    select i.row_no, min(o.unit) as unit, min(o.unit) <> max(o.unit) as is_ambiguous, bool_or(o.unit is null) as is_foreign
      from ident as i
      join holder as e on e.type_id = i.type_id and e.ident = i.ident
     cross join lateral (select case v_mode when 'legal_unit' then e.legal_unit_id
                                            when 'generic_unit' then coalesce(e.legal_unit_id, -e.establishment_id)
                                            else e.establishment_id end as unit) as o
     group by i.row_no
  ),
  founder as materialized (
    select f.type_id, f.ident, f.founding_row_no,
           case v_mode when 'legal_unit' then nextval('register.legal_unit_id_seq')
                       else nextval('register.establishment_id_seq') end::integer as unit,
           case when v_mode <> 'establishment_formal' then nextval('register.enterprise_id_seq') end::integer as enterprise_id
      from (select l.type_id, l.ident, min(l.row_no) as founding_row_no
              from (select distinct on (i.row_no) i.row_no, i.type_id, i.ident from ident as i order by i.row_no, i.n) as l
             where v_makes
               and not exists (select from known as k where k.row_no = l.row_no)
             group by l.type_id, l.ident
             order by founding_row_no) as f
  ),
  founded as materialized (
    select distinct on (i.row_no) i.row_no, f.unit, f.enterprise_id, f.founding_row_no
      from ident as i
      join founder as f on f.type_id = i.type_id and f.ident = i.ident
     where not exists (select from known as k where k.row_no = i.row_no)
     order by i.row_no, i.n
  ),
  home as materialized (
    select distinct on (h.unit) h.unit, h.enterprise_id
      from (select l.id as unit, l.valid_from, l.enterprise_id
              from register.legal_unit as l
             where v_mode = 'legal_unit' and l.id = any (array(select k.unit from known as k where k.unit is not null))
            union all
            select e.id, e.valid_from, e.enterprise_id
              from register.establishment as e
             where v_mode like 'establishment%' and e.id = any (array(select k.unit from known as k where k.unit is not null))) as h
     order by h.unit, h.valid_from desc
  ),
  owner as materialized (
    select i.row_no, min(e.legal_unit_id) as owner_id, count(*) as given, count(e.legal_unit_id) as found,
           min(e.legal_unit_id) <> max(e.legal_unit_id) as is_disputed
      from owner_ident as i
      left join holder as e on e.type_id = i.type_id and e.ident = i.ident
     group by i.row_no
  ),
  unit as materialized (
    select r.*, coalesce(k.unit, f.unit) as unit, k.unit is null as is_new, f.founding_row_no,
           coalesce(h.enterprise_id, f.enterprise_id) as enterprise_id, h.unit is not null and h.enterprise_id is null as is_formal,
           o.owner_id, o.given, o.found, o.is_disputed, coalesce(k.is_ambiguous, false) as is_ambiguous,
           coalesce(k.is_foreign, false) as is_foreign
      from row as r
      left join known as k on k.row_no = r.row_no
      left join founded as f on f.row_no = r.row_no
      left join home as h on h.unit = k.unit
      left join owner as o on o.row_no = r.row_no
  ),
  named as materialized (
    select u.unit, i.type_id, i.ident, i.row_no
      from ident as i
      join unit as u on u.row_no = i.row_no
     where u.unit is not null and not u.is_ambiguous and not u.is_foreign
  ),
  held as materialized (
    select e.type_id, e.ident, e.legal_unit_id as unit
      from register.external_ident as e
     where v_mode in ('legal_unit', 'generic_unit')
       and e.legal_unit_id = any (array(select k.unit from known as k where k.unit > 0))
    union all
    select e.type_id, e.ident, case v_mode when 'generic_unit' then -e.establishment_id else e.establishment_id end
      from register.external_ident as e
     where v_mode <> 'legal_unit'
       and e.legal_unit_id is null
       and e.establishment_id = any (array(select abs(k.unit) from known as k where k.unit < 0 or v_mode <> 'generic_unit'))
  ),
  repeated as materialized (
    select u.unit from unit as u where u.unit is not null group by u.unit having count(*) > 1
  ),
  -- The same identifier for two units, two identifiers of a type for one unit, another one than the unit has.
  shared as (
    select n.type_id, n.ident, register.row_list(array_agg(n.row_no)) as rows
      from (select g.type_id, g.ident from named as g group by g.type_id, g.ident having min(g.unit) <> max(g.unit)) as c
      join named as n on n.type_id = c.type_id and n.ident = c.ident
     group by n.type_id, n.ident
  ),
  several as (
    select n.type_id, n.unit, string_agg(distinct n.ident, ', ') as idents, register.row_list(array_agg(n.row_no)) as rows
      from (select g.type_id, g.unit from named as g
             where g.unit in (select p.unit from repeated as p)
               -- A unit that has one is right where the row says the same.
               and not exists (select from held as h where h.type_id = g.type_id and h.unit = g.unit)
             group by g.type_id, g.unit having min(g.ident) <> max(g.ident)) as c
      join named as n on n.type_id = c.type_id and n.unit = c.unit
     group by n.type_id, n.unit
  ),
  clash as materialized (
    select c.row_no, min(c.text) as text
      from (select n.row_no, format('%s names several units of the file (rows %s)', n.ident, c.rows) as text
              from named as n join shared as c on c.type_id = n.type_id and c.ident = n.ident
            union all
            select n.row_no, format('the unit has several of these: %s (rows %s)', c.idents, c.rows)
              from named as n join several as c on c.type_id = n.type_id and c.unit = n.unit
            union all
            select n.row_no, format('the unit has %s already; an import does not change identifiers', c.ident)
              from named as n join held as c on c.type_id = n.type_id and c.unit = n.unit and c.ident <> n.ident) as c
     group by c.row_no
  ),
  twice as materialized (
    select u.unit, register.row_list(array_agg(u.row_no)) as rows
      from unit as u
     where u.unit in (select d.unit from unit as d
                       where (v_job.snapshot ->> 'unique_units')::boolean
                         and d.unit in (select p.unit from repeated as p)
                         and not exists (select from clash as c where c.row_no = d.row_no)
                       group by d.unit having count(*) > 1)
     group by u.unit
  ),
  judged as (
    select u.*, t.rows as twice, c.text as clash,
           case when num_nonnulls(u.ident) = 0 or num_nonnulls(variadic u.ident) = 0 then 'an identifier is needed'
                when u.is_foreign then 'belongs to another kind of unit'
                when u.is_ambiguous then 'the identifiers belong to different units'
                when v_mode = 'establishment_informal' and u.is_formal then 'is an establishment of a legal unit'
                when v_mode = 'establishment_formal' and not u.is_new and not u.is_formal
                  then 'is an establishment without a legal unit'
                when c.text is not null then c.text
                when t.rows is not null then format('the unit is in the file more than once (rows %s)', t.rows)
                when u.unit is null then 'there is no such unit'
                when v_job.snapshot ->> 'strategy' = 'insert_only' and not u.is_new then 'the unit exists already'
                when length(array_to_string(u.ident, '')) > 50 and (select max(length(x)) from unnest(u.ident) as x) > 50
                  then 'is longer than 50 characters'
           end as ident_text,
           case when v_mode <> 'establishment_formal' then null
                when u.given is null and (u.is_new or v_job.snapshot ->> 'strategy' not in ('insert_or_update', 'update_only'))
                  then 'the legal unit is missing'
                when u.found < u.given then 'there is no such legal unit'
                when u.is_disputed then 'the identifiers belong to different legal units'
           end as owner_text
      from unit as u
      left join clash as c on c.row_no = u.row_no
      left join twice as t on t.unit = u.unit
  ),
  -- Few columns and numbers alone: all rows are sorted here.
  family as materialized (
    select u.row_no, coalesce(case when v_mode = 'establishment_formal' then coalesce(o.owner_id, u.owner_id)
                                   else u.enterprise_id end,
                              -abs(u.unit), -u.row_no) as id
      from unit as u
      left join (select m.unit, min(m.owner_id) as owner_id
                   from unit as m
                  where m.unit in (select p.unit from repeated as p)
                  group by m.unit) as o on o.unit = u.unit
  ),
  numbered as (
    select f.row_no, h.first_row_no, row_number() over (order by h.first_row_no, f.row_no) as number
      from family as f
      join (select g.id, min(g.row_no) as first_row_no from family as g group by g.id) as h on h.id = f.id
  ),
  placed as (
    select n.row_no, 1 + (min(n.number) over (partition by n.first_row_no order by n.row_no) - 1)
                       / (v_job.snapshot ->> 'batch_rows')::integer as batch_seq
      from numbered as n
  )
  select p_job_id, n.row_no, p.batch_seq,
         case when v_mode = 'generic_unit' and n.unit > 0 then null else abs(n.unit) end, n.enterprise_id,
         case when v_mode <> 'generic_unit' then n.owner_id when n.unit > 0 then n.unit end,
         n.founding_row_no, n.is_new,
         case when v_mode = 'establishment_formal' then n.owner_id is not null else n.is_new end,
         n.valid_from, n.valid_until,
         case when n.read_problem is not null then n.read_problem
              when num_nonnulls(n.period_problem, n.ident_text, n.owner_text) > 0
              then coalesce(n.period_problem, '{}')
                   || coalesce(register.ident_problem(v_columns, n.ident, n.ident_text), '{}')
                   || coalesce(register.ident_problem(v_owners, n.owner_ident, n.owner_text), '{}') end
    from judged as n
    join placed as p on p.row_no = n.row_no;
end;
$$;
