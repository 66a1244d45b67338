-- load_key: the advisory lock by which a load shows that it is alive: its session holds it as long as files may come
-- into the folder. Another session that takes it only keeps that folder from being swept.
create or replace function lake.load_key(p_folder text)
  returns bigint
  language sql immutable
return pg_catalog.hashtextextended('lake.load ' || p_folder, 0);
