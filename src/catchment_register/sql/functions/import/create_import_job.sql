-- create_import_job: create a job that waits for its rows. It copies its definition, the identifiers, variables and
-- settings of this moment, so nothing that changes later touches it. p_mapping: for each of our columns {"input":
-- column of the file} or {"value": constant}; null takes the mapping of the definition. p_strategy: another one than
-- the definition's.
--
--   absent -> waiting_for_upload
--   raises  RG011 the import job is invalid; RG022 the period is invalid
create or replace function register.create_import_job(
  p_definition   text,
  p_slug         text default null,
  p_valid_from   date default null,
  p_valid_until  date default null,
  p_review       boolean default null,
  p_headers      jsonb default null,
  p_mapping      jsonb default null,
  p_strategy     text default null,
  p_note         text default null
)
  returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_definition register.import_definition;
  v_columns    jsonb;
  v_missing    text;
  v_id         integer;
  v_wrong      text;
  v_hint       text;
begin
  select d.* into v_definition from register.import_definition as d where d.slug = p_definition;
  v_columns := coalesce(p_mapping,
                        (select jsonb_object_agg(m.column_name,
                                                 jsonb_strip_nulls(jsonb_build_object('input', m.input_column,
                                                                                      'value', m.value)))
                           from register.import_mapping as m
                          where m.definition_id = v_definition.id), '{}');
  -- Without a mapping nothing is known of the columns.
  select string_agg(c.column_name, ', ' order by c.column_name) into v_missing
    from register.import_source_column as c
   where c.definition_id = v_definition.id
     and v_columns <> '{}'
     and not v_columns ? c.column_name;
  if v_definition.id is null then
    v_wrong := format('there is no import definition %s', p_definition);
    v_hint := (select 'Known are ' || string_agg(d.slug, ', ' order by d.slug) || '.'
                 from register.import_definition as d);
  elsif not v_definition.is_valid then
    v_wrong := format('the import definition %s is marked as not valid', p_definition);
  elsif p_strategy not in ('insert_or_replace', 'insert_or_update', 'insert_only', 'update_only', 'replace_only') then
    v_wrong := format('there is no strategy %s', p_strategy);
    v_hint := 'Choose insert_or_replace, insert_or_update, insert_only, update_only or replace_only.';
  elsif v_definition.valid_time_from = 'job_provided' and p_valid_from is null then
    v_wrong := format('%s takes its dates from the job, and the job has no first day', p_definition);
    v_hint := 'Pass --valid-from, or give the rows columns valid_from and valid_to.';
  elsif v_definition.valid_time_from = 'source_columns' and (p_valid_from is not null or p_valid_until is not null) then
    v_wrong := format('%s takes its dates from the rows, so the job cannot have any', p_definition);
    v_hint := 'Omit --valid-from and --valid-to, or the columns valid_from and valid_to.';
  elsif not isfinite(p_valid_from) then
    v_wrong := format('nothing is valid from %s until %s', p_valid_from, p_valid_until);
    v_hint := 'A job needs a first day.';
  elsif v_missing is not null then
    v_wrong := format('%s needs the columns %s, and the file lacks them', p_definition, v_missing);
    v_hint := 'Add them to the file, or to the mapping.';
  elsif exists (select from register.import_job as j where j.slug = p_slug) then
    v_wrong := format('there is an import job %s already', p_slug);
    v_hint := 'Use another slug, or delete that job with catchment register import-job delete.';
  end if;
  if v_wrong is not null then
    raise exception using errcode = 'RG011', message = v_wrong, hint = coalesce(v_hint, '');
  elsif p_valid_from is not null then
    perform register.require_period(p_valid_from, coalesce(p_valid_until, 'infinity'));
  end if;

  v_id := nextval('register.import_job_id_seq');
  insert into register.import_job (id, slug, definition_id, snapshot, valid_from, valid_until, review, note, expires_at)
  select v_id, coalesce(p_slug, v_definition.slug || '-' || v_id), v_definition.id,
         jsonb_build_object(
           'definition', v_definition.slug, 'mode', v_definition.mode,
           'strategy', coalesce(p_strategy, v_definition.strategy), 'valid_time_from', v_definition.valid_time_from,
           'unique_units', v_definition.unique_units, 'headers', p_headers,
           'columns', v_columns,
           'ident_types', (select coalesce(jsonb_agg(jsonb_build_object('id', t.id, 'code', t.code, 'shape', t.shape)
                                                     order by t.priority), '[]')
                             from register.external_ident_type as t where t.enabled),
           'stat_definitions', (select coalesce(jsonb_agg(jsonb_build_object('id', d.id, 'code', d.code, 'type', d.type)
                                                          order by d.priority), '[]')
                                  from register.stat_definition as d where d.enabled),
           'standard_id', s.activity_category_standard_id, 'country_id', s.country_id,
           'truncates_text', s.truncates_text, 'batch_rows', s.import_batch_rows),
         p_valid_from, case when p_valid_from is not null then coalesce(p_valid_until, 'infinity') end, p_review,
         p_note, clock_timestamp() + v_definition.retention
    from register.settings as s;
  perform worker.notify('import_job', jsonb_build_object('verb', 'INSERT', 'id', v_id)::text);
  return v_id;
end;
$$;
