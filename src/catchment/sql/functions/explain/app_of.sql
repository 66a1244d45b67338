-- app_of: what to type after --app to run a Python command: the module of its handler ('module:name'), which has the
-- app; a placeholder where the module is not known.
create or replace function worker.app_of(p_handler text)
  returns text
  language sql immutable
return coalesce(nullif(substring(p_handler from '^([A-Za-z_][A-Za-z0-9_.]*):'), '__main__'), 'MODULE:APP');
