-- merge_text: the statement by which temporal_merge merges source rows into the slices of a table. It reads $1, the
-- arguments of the source, and $2, the numbers of the rows to take.
--
-- Time is cut at every start and end of the old slices and of the source rows of a key; each piece gets its values;
-- pieces that touch and are equal become one slice again. Only what differs is deleted and inserted, in one statement:
-- guards look when it is over, so none of them sees a hole.
create or replace function register.merge_text(
  p_table   text,
  p_owner   text,
  p_mode    text,
  p_source  text,
  p_keeps   text[],
  p_clears  text[]
)
  returns text
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_table  register.temporal_table;
  v_keys   text[];
  v_joined text[];
  -- What a slice of a relationship has besides its values: the number and the group stay with it.
  v_own    text[] := case p_table when 'legal_relationship'
                       then array['id', 'derived_power_group_id', 'derived_influenced_power_level'] else '{}' end;
begin
  select t.* into strict v_table from register.temporal_table as t where t.table_name = p_table;
  v_keys := p_owner || v_table.key_columns;
  -- Only the role of a person may be null.
  v_joined := array(select case k when 'person_role_id' then 'a.person_role_id is not distinct from b.person_role_id'
                                  else format('a.%1$I = b.%1$I', k) end
                      from unnest(v_keys) as k);
  return format(
    $sql$
    with source as materialized (
      select s.* from (%1$s) as s where s.row_no = any ($2)
    ),
    existing as materialized (
      select t.* from register.%2$I as t where %3$s t.%4$I = any (array(select s.%4$I from source as s))
    ),
    -- Where there was nothing, a kept column is as in the latest slice.
    latest as (
      select distinct on (%5$s) * from existing order by %5$s, valid_from desc
    ),
    point as (
      select %5$s, valid_from as at from source union select %5$s, valid_until from source
      union select %5$s, valid_from from existing union select %5$s, valid_until from existing
    ),
    piece as (
      select %5$s, at as valid_from, lead(at) over (partition by %5$s order by at) as valid_until from point
    ),
    value as (
      select %6$s, a.valid_from, a.valid_until, %7$s,
             case when count(s.row_no) > 0 then (array_agg(s.edit_at order by s.row_no desc))[1]
                  else (array_agg(b.edit_at))[1] end as edit_at,
             case when count(s.row_no) > 0 then (array_agg(s.edit_by order by s.row_no desc))[1]
                  else (array_agg(b.edit_by))[1] end as edit_by,
             case when count(s.row_no) > 0 then (array_agg(s.edit_comment order by s.row_no desc))[1]
                  else (array_agg(b.edit_comment))[1] end as edit_comment
             %8$s
        from piece as a
        left join existing as b on %9$s and b.valid_from <= a.valid_from and a.valid_until <= b.valid_until
        left join latest as k on %20$s
        left join source as s on %10$s and s.valid_from <= a.valid_from and a.valid_until <= s.valid_until
       where a.valid_until is not null
       group by %6$s, a.valid_from, a.valid_until
      having count(s.row_no) > 0 or count(b.valid_from) > 0
    ),
    island as (
      select v.*, count(*) filter (where v.begins) over (partition by %5$s order by v.valid_from) as island
        from (select v.*, (v.valid_from = lag(v.valid_until) over w
                           and row(%11$s) is not distinct from lag(row(%11$s)) over w) is not true as begins
                from value as v
              window w as (partition by %5$s order by v.valid_from)) as v
    ),
    merged as materialized (
      select %5$s, min(valid_from) as valid_from, max(valid_until) as valid_until, %12$s,
             max(edit_at) as edit_at, (array_agg(edit_by order by edit_at desc))[1] as edit_by,
             (array_agg(edit_comment order by edit_at desc))[1] as edit_comment %13$s
        from island
       group by %5$s, island
    ),
    different as materialized (
      select a.* from merged as a
       where not exists (select from existing as b
                          where %9$s and b.valid_from = a.valid_from and b.valid_until = a.valid_until
                            and row(%14$s) is not distinct from row(%15$s))
    ),
    gone as (
      delete from register.%2$I as t
       using existing as b
       where %3$s t.%4$I = b.%4$I and %16$s and t.valid_from = b.valid_from
         and not exists (select from merged as a
                          where %9$s and b.valid_from = a.valid_from and b.valid_until = a.valid_until
                            and row(%14$s) is not distinct from row(%15$s))
      returning 1
    ),
    added as (
      insert into register.%2$I (%5$s, valid_from, valid_until, %11$s, edit_at, edit_by, edit_comment %17$s)
      select %6$s, a.valid_from, a.valid_until, %14$s, a.edit_at, a.edit_by, a.edit_comment %18$s
        from different as a %19$s
       -- The old slices go first: a new one may start on the same day.
       where (select count(*) from gone) >= 0
      returning 1
    )
    select (select count(*) from added), (select count(*) from gone)
    $sql$,
    p_source, p_table,
    -- The key of a detail begins with both possible owners: naming the one that is null leads to its index.
    (select string_agg(format('t.%I is null and', o), ' ') from unnest(v_table.owner_columns) as o where o <> p_owner),
    p_owner,
    (select string_agg(format('%I', k), ', ') from unnest(v_keys) as k),
    (select string_agg(format('a.%I', k), ', ') from unnest(v_keys) as k),
    (select string_agg(register.merged_value(c, p_mode, c = any (p_keeps), c = any (p_clears)) || format(' as %I', c),
                       ', ')
       from unnest(v_table.data_columns) as c),
    (select string_agg(format(', (array_agg(b.%1$I))[1] as %1$I', o), '') from unnest(v_own) as o),
    array_to_string(v_joined, ' and '),
    replace(array_to_string(v_joined, ' and '), 'b.', 's.'),
    (select string_agg(format('%I', c), ', ') from unnest(v_table.data_columns) as c),
    (select string_agg(format('(array_agg(%1$I order by valid_from))[1] as %1$I', c), ', ')
       from unnest(v_table.data_columns) as c),
    (select string_agg(format(', (array_agg(%1$I) filter (where %1$I is not null))[1] as %1$I', o), '')
       from unnest(v_own) as o),
    (select string_agg(format('a.%I', c), ', ') from unnest(v_table.data_columns) as c),
    (select string_agg(format('b.%I', c), ', ') from unnest(v_table.data_columns) as c),
    replace(array_to_string(v_joined, ' and '), 'a.', 't.'),
    (select string_agg(format(', %I', o), '') from unnest(v_own) as o),
    (select string_agg(case o when 'id' then ', coalesce(a.id, n.id)' else format(', a.%I', o) end, '')
       from unnest(v_own) as o),
    case when v_own <> '{}' then format(
      'join (select k.*, nextval(''register.legal_relationship_id_seq'')::integer as id
               from (select distinct %1$s from different) as k) as n using (%1$s)',
      (select string_agg(format('%I', k), ', ') from unnest(v_keys) as k)) end,
    replace(array_to_string(v_joined, ' and '), 'b.', 'k.'));
end;
$$;
