-- tasks_on_conflict: does the INSERT INTO worker.tasks that is being planned say ON CONFLICT DO NOTHING? The default of
-- the view's id: declared immutable, it is evaluated while a statement is planned, before the planner looks for an
-- index that ON CONFLICT (…) could mean, and its answer is a constant of the plan. See
-- docs/design/0028-on-conflict-is-found-by-the-planner.md.
--
--   returns -1 if it does, else null
--   raises  CM007 worker.tasks does not accept this write
create or replace function worker.tasks_on_conflict()
  returns bigint
  language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  c_quoted constant text := -- each alternative at its shortest: dollar quotes, escape strings, strings, names, comments
    '(?:\$(\w*)\$.*?\$\1\$|\me''(?:[^''\\]|\\.|'''')*''|('')[^'']*''|(")[^"]*"|--[^\n]*(?=\n|$)|/\*.*?\*/){1,1}?';
  c_tasks  constant text := '(?:worker\s*\.\s*)?tasks\y';
  c_name   constant text := '(?:(?:u&)?""|[\w$]+)';
  c_clause constant text := '(?:(?!insert\s+into)[^;])*\son\s+conflict\s*(\w+|\()';
  v_caller text;
  v_text   text := current_query();
  v_clause text;
begin
  get diagnostics v_caller = pg_context; -- this function, and then who planned the statement
  if strpos(v_caller, e'\n') > 0 then
    v_caller := substr(v_caller, strpos(v_caller, e'\n') + 1);
    -- A SQL function is named and its text is in the catalog; any other language gives the statement. Quotes differ by
    -- lc_messages. It is named without its schema. Where the name means several, those of other sessions are not ours,
    -- and they decide only if they agree: nobody stops the INSERT of another by a function of the same name.
    select case when bool_and(x.body ~* 'on\s+conflict') or count(*) = 1 then string_agg(x.body, ';')
                else '' end into v_text
      from (select coalesce(pg_get_function_sqlbody(p.oid), p.prosrc) as body
              from pg_proc as p
             where p.proname = (regexp_match(v_caller, '^[^\n"«»„“”]*["«»„“”]\s?([^\n"«»„“”]+?)\s?["«»„“”]'))[1]
               and p.prolang = (select l.oid from pg_language as l where l.lanname = 'sql')
               and (p.pronamespace = pg_my_temp_schema() or not pg_is_other_temp_schema(p.pronamespace))) as x
    having count(*) > 0;
    v_text := coalesce(v_text, regexp_replace(regexp_replace(v_caller, '"\n(PL/|SQL ).*', ''), '^[^\n"«»„“”]*["«»„“”]',
                                              ''));
  end if;
  if v_text collate "C" !~* 'conflict|execute' then
    return null;
  end if;
  if v_text ~* '\yexecute\y' then
    v_text := v_text || coalesce((select string_agg(';' || s.statement, '')
                                    from pg_prepared_statements as s
                                   where strpos(lower(v_text), lower(s.name)) > 0), '');
  end if;
  if v_text !~* 'on\s+conflict' then
    return null;
  end if;

  -- What is quoted or a comment does not count, nor what belongs to another INSERT of the same text.
  v_text := regexp_replace(v_text, '"(worker|tasks)"', '\1', 'g');
  v_text := regexp_replace(v_text, c_quoted, '\2\3\2\3 ', 'gi');
  if v_text ~* ('insert\s+into\s+' || c_tasks) then
    v_clause := (regexp_match(v_text, 'insert\s+into\s+' || c_tasks || c_clause, 'i'))[1];
  else
    -- It goes by another name: that of a view over it, or one in quotes.
    select m.parts[2] into v_clause
      from regexp_matches(v_text, 'insert\s+into\s+(?:' || c_name || '\s*\.\s*)?(' || c_name || ')' || c_clause,
                          'gi') as m (parts)
     where m.parts[1] like '%"'
        or exists (select from pg_class as c where c.relkind = 'v' and c.relname = lower(m.parts[1]))
     limit 1;
  end if;
  if lower(v_clause) = 'do' then
    return -1;
  elsif v_clause is not null then
    perform worker.refuse_on_conflict();
  end if;
  return null;
end;
$$;
