-- country_used: Countries that a published unit is or gets its mail in.
create or replace view register.country_used as
select c.*
  from register.country as c
 where exists (select from register.used_code as u where u.kind = 'country' and u.code_id = c.id);
comment on view register.country_used is 'Countries that a published unit is or gets its mail in.';
