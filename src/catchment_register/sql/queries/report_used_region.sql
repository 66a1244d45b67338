-- Codes of the list region that units have, with all that they lie in.
select c.path, c.code, c.name from register.region_used as c order by c.path;
