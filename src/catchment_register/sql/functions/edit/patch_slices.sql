-- patch_slices: change some columns of slices for some time. p_rows: the owner, the key columns, valid_from and
-- valid_until of each patch; p_changes: the same values for all of them. A value of null leaves the column as it is;
-- p_clears: columns that become null.
--
--   locks   the slices
create or replace function register.patch_slices(
  p_table    text,
  p_owner    text,
  p_rows     jsonb,
  p_changes  jsonb,
  p_by       text default session_user,
  p_comment  text default null,
  p_clears   text[] default '{}'
)
  returns jsonb
  language sql set search_path = pg_catalog, pg_temp
as $$
  select register.temporal_merge(p_table, p_owner, 'update',
    format('select r.n::integer as row_no, s.* from jsonb_array_elements($1) with ordinality as r (value, n)
             cross join lateral jsonb_populate_record(null::register.%I, r.value) as s', p_table),
    (select coalesce(jsonb_agg(p_changes || r.value || jsonb_build_object('edit_at', clock_timestamp(), 'edit_by', p_by,
                                                                          'edit_comment', p_comment)), '[]')
       from jsonb_array_elements(p_rows) as r),
    p_clears => p_clears);
$$;
