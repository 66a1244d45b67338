-- link_units: link each row to its unit, by its identifiers, over the whole file. A unit that nobody knows is founded
-- by the first row with its leading identifier and gets its number now; so rows of one unit find each other, and no
-- unit is in two batches. Rows that cannot be linked carry the reason, by column. One statement in five steps, each of
-- which reads what the ones before it have found: written to tables in between, a large file would be copied once more
-- by each.
--
-- Batches: a group is what may write the same unit: the rows of an enterprise, or of the legal unit of an
-- establishment's first row.
--
--   plan    no_jit, indexed, in_order, hashed, unsorted, memory_256
create or replace function register.link_units(p_job_id integer)
  returns void
  language plpgsql set search_path = pg_catalog, pg_temp
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
  v_makes := v_mode <> 'generic_unit'
             and v_job.snapshot ->> 'strategy' in ('insert_or_replace', 'insert_or_update', 'insert_only');
  -- Identifiers of a large file are found sooner by reading all there are, of some 80 bytes each, than by seeking each.
  v_scans := v_job.total_rows * 8 > pg_relation_size('register.external_ident') / 80;

  insert into register.import_link (job_id, row_no, batch_seq, unit_id, enterprise_id, owner_id, founding_row_no,
                                    is_new, is_primary, valid_from, valid_until, problem)
  with
  -- 1. Who is meant: the unit that an identifier of the row belongs to, and its legal unit.
  row as materialized (
    select r.*, case when v_mode = 'establishment_formal' then r.owners else 0 end as given
      from register.ident_rows(p_job_id) as r
  ),
  -- Few rows have several identifiers: those are looked at apart. Here and below a condition is an equation so that the
  -- planner believes in few: then it hashes what is joined to the rows of the file, and these stay in their order.
  crowded as materialized (
    select r.row_no, r.lead, r.ident, r.owner_ident, r.idents, r.given
      from row as r
     where least(greatest(r.idents, r.given), 2) = 2
  ),
  -- A unit is a number: positive for the kind of unit that the job is about. Where that may be any, establishments are
  -- negative.
  holder as materialized (
    select array_position(v_types, e.type_id) as n, e.ident, e.legal_unit_id,
           case v_mode when 'legal_unit' then e.legal_unit_id
                       when 'generic_unit' then coalesce(e.legal_unit_id, -e.establishment_id)
                       else e.establishment_id end as unit
      from (select e.* from register.external_ident as e
             where not v_scans
               and e.type_id = any (v_types)
               and e.ident = any (array(select unnest(r.ident || r.owner_ident) from row as r))
            union all
            -- Apart from its condition, so that no index is walked for it.
            select e.* from (select e.* from register.external_ident as e where v_scans offset 0) as e
             where num_nonnulls(array_position(v_types, e.type_id)) = 1) as e
  ),
  recognised as materialized (
    select a.row_no, a.n, a.is_owner, case when a.is_owner then e.legal_unit_id end as owner_id,
           case when not a.is_owner then e.unit end as unit
      from (select r.row_no, n, i.ident, i.is_owner
              from crowded as r
             cross join generate_subscripts(v_types, 1) as n
             cross join lateral (values (r.ident[n], false, r.idents), (r.owner_ident[n], true, r.given))
                       as i (ident, is_owner, idents)
             where i.idents > 1) as a
      join holder as e on e.n = a.n and e.ident = a.ident collate "C"
  ),
  seen as materialized (
    select n.row_no, count(*) filter (where not n.is_owner) as idents, count(n.unit) as units, min(n.unit) as unit,
           min(n.unit) <> max(n.unit) as is_ambiguous, count(n.owner_id) as owners, min(n.owner_id) as owner_id,
           min(n.owner_id) <> max(n.owner_id) as is_disputed
      from recognised as n
     group by n.row_no
  ),
  linked as materialized (
    select r.row_no, r.valid_from, r.valid_until, r.read_problem, r.period_problem, r.lead,
           r.ident[r.lead] collate "C" as ident,
           case when r.idents = 1 then length(r.ident[r.lead])
                else (select max(length(x)) from unnest(r.ident) as x) end > 50 as is_long,
           coalesce(k.unit, e.unit) as known,
           v_makes and r.lead is not null and num_nonnulls(nullif(k.idents, 0), e.n) = 0 as is_founded,
           coalesce(k.is_ambiguous, false) as is_ambiguous,
           coalesce(k.units < k.idents, false) or e.n is not null and e.unit is null as is_foreign,
           nullif(r.given, 0) as given, coalesce(k.owner_id, o.legal_unit_id) as owner_id,
           coalesce(k.owners, 0) + num_nonnulls(o.legal_unit_id) as owners, k.is_disputed
      from row as r
      left join holder as e on e.n = r.lead and e.ident = case when r.idents = 1 then r.ident[r.lead] end collate "C"
      left join holder as o
        on o.n = r.owner_lead and o.ident = case when r.given = 1 then r.owner_ident[r.owner_lead] end collate "C"
      left join seen as k on k.row_no = r.row_no
  ),
  -- 2. New units get their numbers.
  -- A row that nobody knows is about the unit of its leading identifier. Few share it with another row.
  twin as materialized (
    select l.lead, l.ident, min(l.row_no) as row_no
      from linked as l
     where l.is_founded
     group by l.lead, l.ident
    having count(*) > 1
  ),
  -- New units have their numbers in the order of the file, whatever the plan.
  founder as materialized (
    select f.row_no,
           case v_mode when 'legal_unit' then nextval('register.legal_unit_id_seq')
                       else nextval('register.establishment_id_seq') end::integer as unit,
           case when v_mode <> 'establishment_formal'
                  then nextval('register.enterprise_id_seq') end::integer as enterprise_id
      from (select l.row_no
              from linked as l
              left join twin as t on t.lead = l.lead and t.ident = l.ident
             where l.is_founded and coalesce(t.row_no, l.row_no) = l.row_no
             order by l.row_no) as f
  ),
  -- Rows of a family go into one batch.
  unit as materialized (
    select u.*, coalesce(case when v_mode = 'establishment_formal' then u.owner_id else u.enterprise_id end,
                         -abs(u.unit), -u.row_no) as family
      from (select l.*, h.unit is not null and h.enterprise_id is null as is_formal, coalesce(f.unit, l.known) as unit,
                   coalesce(f.enterprise_id, h.enterprise_id) as enterprise_id, f.row_no as founding_row_no
              from linked as l
              left join twin as t on t.lead = l.lead and t.ident = l.ident and l.is_founded
              left join founder as f on f.row_no = coalesce(t.row_no, l.row_no) and l.is_founded
              left join register.unit_homes(v_mode, array(select k.known from linked as k
                                                           where k.known is not null)) as h
                on h.unit = l.known) as u
  ),
  repeated as materialized (
    select u.unit from unit as u where u.known is not null group by u.unit having count(*) > 1
    union all
    select f.unit from twin as t join founder as f on f.row_no = t.row_no
  ),
  -- 3. Identifiers that contradict each other.
  -- Those that did not lead a row to its unit: the others cannot contradict themselves.
  further as materialized (
    select u.unit, i.n, i.ident, i.row_no
      from (select r.row_no, t.n, r.ident[t.n] collate "C" as ident
              from crowded as r
             cross join generate_subscripts(v_types, 1) as t (n)
              left join seen as k on k.row_no = r.row_no
             where r.idents > coalesce(nullif(k.idents, 0), 1)
               and r.ident[t.n] is not null
               and (k.idents > 0 or t.n <> r.lead)
            offset 0) as i
      join unit as u on u.row_no = i.row_no
     where u.unit is not null and not u.is_ambiguous and not u.is_foreign
       and not exists (select from recognised as n where n.row_no = i.row_no and n.n = i.n and not n.is_owner)
  ),
  named as materialized (
    select t.unit, t.n, t.ident, t.row_no from further as t
    union all
    select u.unit, u.lead, u.ident, u.row_no
      from unit as u
     where u.is_founded and exists (select from further as t where t.n = u.lead and t.ident = u.ident)
  ),
  held as materialized (
    select array_position(v_types, h.type_id) as n, h.ident collate "C" as ident, h.unit
      from register.unit_idents(v_mode, array(select t.unit from further as t)) as h
  ),
  -- The same identifier for two units, two identifiers of a type for one unit, another one than the unit has.
  shared as (
    select n.n, n.ident, register.row_list(array_agg(n.row_no)) as rows
      from named as n
     group by n.n, n.ident
    having min(n.unit) <> max(n.unit)
  ),
  several as (
    select t.n, t.unit, string_agg(distinct t.ident, ', ') as idents, register.row_list(array_agg(t.row_no)) as rows
      from further as t
     where t.unit in (select p.unit from repeated as p)
       -- A unit that has one is right where the row says the same.
       and not exists (select from held as h where h.n = t.n and h.unit = t.unit)
     group by t.n, t.unit
    having min(t.ident) <> max(t.ident)
  ),
  clash as materialized (
    select c.row_no, min(c.text) as text
      from (select n.row_no, format('%s names several units of the file (rows %s)', n.ident, c.rows) as text
              from named as n join shared as c on c.n = n.n and c.ident = n.ident
            union all
            select t.row_no, format('the unit has several of these: %s (rows %s)', c.idents, c.rows)
              from further as t join several as c on c.n = t.n and c.unit = t.unit
            union all
            select t.row_no, format('the unit has %s already; an import does not change identifiers', c.ident)
              from further as t join held as c on c.n = t.n and c.unit = t.unit and c.ident <> t.ident) as c
     group by c.row_no
  ),
  -- A row that names several units is a row of each: none of them comes in without it.
  unsure as materialized (
    select n.unit, n.row_no
      from recognised as n
      join seen as k on k.row_no = n.row_no
     where k.is_ambiguous and n.unit is not null
  ),
  mixed as materialized (
    select s.unit, register.row_list(array_agg(s.row_no)) as rows from unsure as s group by s.unit
  ),
  -- Rows with other problems count, too: which of the two was meant nobody knows.
  twice as materialized (
    select t.unit, register.row_list(array_agg(t.row_no)) as rows
      from (select u.unit, u.row_no from unit as u
             where u.unit in (select p.unit from repeated as p union all select m.unit from mixed as m)
            union
            select s.unit, s.row_no from unsure as s) as t
     where (v_job.snapshot ->> 'unique_units')::boolean
     group by t.unit
    having count(*) > 1
  ),
  -- 4. Batches.
  -- Rows of one unit may name several owners: they go with the first.
  host as materialized (
    select u.unit, min(u.owner_id) as owner_id
      from unit as u
     where v_mode = 'establishment_formal' and u.unit in (select p.unit from repeated as p)
     group by u.unit
  ),
  placed as (
    select g.family, 1 + (sum(g.rows) over (order by g.first_row_no rows unbounded preceding) - g.rows)
                       / (v_job.snapshot ->> 'batch_rows')::integer as batch_seq
      from (select coalesce(o.owner_id, u.family) as family, min(u.row_no) as first_row_no, count(*)::integer as rows
              from unit as u
              left join host as o on o.unit = u.unit
             group by 1) as g
  ),
  -- 5. What is wrong with a row, by its identifiers and by its legal unit.
  judged as (
    select u.*, p.batch_seq,
           case when u.lead is null then 'an identifier is needed'
                when u.is_foreign then 'belongs to another kind of unit'
                when u.is_ambiguous then 'the identifiers belong to different units'
                when v_mode = 'establishment_informal' and u.is_formal then 'is an establishment of a legal unit'
                when v_mode = 'establishment_formal' and u.known is not null and not u.is_formal
                  then 'is an establishment without a legal unit'
                when c.text is not null then c.text
                when t.rows is not null then format('the unit is in the file more than once (rows %s)', t.rows)
                when m.rows is not null then format('another row of this unit has errors (rows %s)', m.rows)
                when u.unit is null then 'there is no such unit'
                when v_job.snapshot ->> 'strategy' = 'insert_only' and u.known is not null
                  then 'the unit exists already'
                when u.is_long then 'is longer than 50 characters'
           end as ident_text,
           case when v_mode <> 'establishment_formal' then null
                when u.given is null
                     and (u.known is null or v_job.snapshot ->> 'strategy' not in ('insert_or_update', 'update_only'))
                  then 'the legal unit is missing'
                when u.owners < u.given then 'there is no such legal unit'
                when u.is_disputed then 'the identifiers belong to different legal units'
           end as owner_text
      from unit as u
      left join host as o on o.unit = u.unit
      join placed as p on p.family = coalesce(o.owner_id, u.family)
      left join clash as c on c.row_no = u.row_no
      left join twice as t on t.unit = u.unit
      left join mixed as m on m.unit = u.unit
  )
  select p_job_id, n.row_no, n.batch_seq,
         case when v_mode = 'generic_unit' and n.unit > 0 then null else abs(n.unit) end, n.enterprise_id,
         case when v_mode <> 'generic_unit' then n.owner_id when n.unit > 0 then n.unit end,
         n.founding_row_no, n.known is null,
         case when v_mode = 'establishment_formal' then n.owner_id is not null else n.known is null end,
         n.valid_from, n.valid_until,
         case when n.read_problem is not null then n.read_problem
              when num_nonnulls(n.period_problem, n.ident_text, n.owner_text) > 0
              then (select coalesce(n.period_problem, '{}')
                           || coalesce(register.ident_problem(v_columns, r.ident, n.ident_text), '{}')
                           || coalesce(register.ident_problem(v_owners, r.owner_ident, n.owner_text), '{}')
                      from register.import_upload as r
                     where r.job_id = p_job_id and r.row_no = n.row_no) end
    from judged as n;
end;
$$;
