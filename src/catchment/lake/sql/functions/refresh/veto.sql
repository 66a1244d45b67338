-- veto: refuse a commit to the lake. DuckLake passes on nothing but the text, in which callers look for catchment veto;
-- a direct caller gets the code. No text may hold a word on which DuckLake tries a commit again: conflict, unique,
-- primary key, concurrent.
--
--   raises  CM015 the commit to the lake is refused
create or replace function lake.veto(p_text text)
  returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using errcode = 'CM015', message = 'catchment veto: ' || p_text;
end;
$$;
