-- Codes of the list sector that units have, with all that they lie in.
select c.path, c.code, c.name from register.sector_used as c order by c.path;
