-- shell_command: a command line to paste: its start as it is, then each name as one word. Empty names are omitted.
create or replace function worker.shell_command(p_start text, variadic p_names text[])
  returns text
  language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select p_start || case when bool_or(starts_with(w.name, '-')) then ' -- ' else ' ' end
         || string_agg(worker.shell_word(w.name), ' ' order by w.n)
    from unnest(p_names) with ordinality as w (name, n)
   where w.name <> '';
$$;
