-- Countries that units are in.
select c.iso_2 as code, c.name from register.country_used as c order by c.iso_2;
