-- temporal_merge: merge rows with validity into a table of slices. p_mode replace: a row replaces all columns in its
-- time; update: only those it has a value for. Rows are taken in the order of row_no, so a later one wins where two
-- overlap. Time that no row covers is not changed; a slice that would not change is not touched. p_keeps: columns that
-- the old slice decides; p_clears: columns that become null. p_is_new: the owners are new, so none of their slices are
-- read. If p_args also has is_single, no key has two rows in the source, and all of it is inserted unchanged.
--
-- p_source is a SELECT of ours over $1 (p_args) that yields row_no, the owner, the key columns, valid_from,
-- valid_until, the data columns, edit_at, edit_by and edit_comment. Only the owner of the schema may call this.
--
--   locks   the slices of the owners that have some; sessions that write details lock their units before (lock_units)
--   raises  what the guards raise
--   plan    no_jit, hashed, memory_64
create or replace function register.temporal_merge(
  p_table   text,
  p_owner   text,
  p_mode    text,
  p_source  text,
  p_args    jsonb,
  p_keeps   text[] default '{}',
  p_clears  text[] default '{}',
  p_is_new  boolean default false
)
  returns jsonb
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_table    register.temporal_table;
  v_names    text;
  v_other    text;
  v_inserted bigint;
  v_added    bigint := 0;
  v_gone     bigint := 0;
  v_busy     integer[];
begin
  select t.* into strict v_table from register.temporal_table as t where t.table_name = p_table;
  v_names := array_to_string(array(select format('%I', c)
                                     from unnest(p_owner || v_table.key_columns || v_table.data_columns
                                                 || '{valid_from,valid_until,edit_at,edit_by,edit_comment}') as c),
                                                 ', ');
  if p_is_new and coalesce((p_args ->> 'is_single')::boolean, false) then
    execute format('insert into register.%I (%s) select %s from (%s) as s', p_table, v_names, v_names, p_source)
      using p_args;
    get diagnostics v_inserted = row_count;
    return jsonb_build_object('inserted', v_inserted, 'deleted', 0);
  end if;
  select string_agg(format('t.%I is null and', o), ' ') into v_other
    from unnest(v_table.owner_columns) as o
   where o <> p_owner;

  -- Most rows are the only one of their key, and either the key is new or the row says what is there: no time to cut.
  execute format(
    'with source as materialized (%1$s),
     several as materialized (
       select distinct k.%3$I as owner from (select s.%3$I from source as s group by %6$s having count(*) > 1) as k
     ),
     existing as materialized (
       select t.* from register.%2$I as t where %9$s %4$s t.%3$I = any (array(select s.%3$I from source as s))
     ),
     added as (
       insert into register.%2$I (%5$s)
       select %5$s from source as s
        where not exists (select from several as m where m.owner = s.%3$I)
          and not exists (select from existing as e where e.%3$I = s.%3$I)
       returning 1
     ),
     busy as (
       select s.row_no from source as s join several as m on m.owner = s.%3$I
       union
       select s.row_no from source as s
        where exists (select from existing as e where e.%3$I = s.%3$I)
          and not exists (select from existing as e
                           where %7$s and e.valid_from <= s.valid_from and s.valid_until <= e.valid_until and %8$s)
     )
     select (select count(*) from added), (select array_agg(b.row_no) from busy as b)',
    p_source, p_table, p_owner, v_other, v_names,
    (select string_agg(format('s.%I', k), ', ') from unnest(p_owner || v_table.key_columns) as k),
    (select string_agg(case k when 'person_role_id' then 'e.person_role_id is not distinct from s.person_role_id'
                              else format('e.%1$I = s.%1$I', k) end, ' and ')
       from unnest(p_owner || v_table.key_columns) as k),
    (select string_agg(format(case when c = any (p_clears) then 'e.%1$I is null'
                                   when c = any (p_keeps) then 'true'
                                   when p_mode = 'update' then '(s.%1$I is null or e.%1$I is not distinct from s.%1$I)'
                                   else 'e.%1$I is not distinct from s.%1$I' end, c), ' and ')
       from unnest(v_table.data_columns) as c),
    case when p_is_new then 'false and' end)
    into v_inserted, v_busy
   using p_args;
  if v_busy is not null then
    execute format(
      'select from register.%1$I as t
        where %2$s t.%3$I = any (array(select s.%3$I from (%4$s) as s where s.row_no = any ($2)))
        order by t.%3$I, t.valid_from for no key update', p_table, v_other, p_owner, p_source)
      using p_args, v_busy;
    execute register.merge_text(p_table, p_owner, p_mode, p_source, p_keeps, p_clears) into v_added,
    v_gone using p_args, v_busy;
  end if;
  return jsonb_build_object('inserted', v_inserted + v_added, 'deleted', v_gone);
end;
$$;
