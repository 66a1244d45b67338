-- Codes of the list activity_category that units have, with all that they lie in.
select c.path, c.code, c.name from register.activity_category_used as c order by c.path;
