-- said_count: a number of things for people: '1 task', '3 tasks'.
create or replace function worker.said_count(
  p_count  bigint,
  p_noun   text
)
  returns text
  language sql immutable
return p_count || ' ' || p_noun || case p_count when 1 then '' else 's' end;
