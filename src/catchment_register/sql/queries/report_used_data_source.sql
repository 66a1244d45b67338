-- Codes of the list data_source that units have.
select c.code, c.name from register.data_source_used as c order by c.code;
