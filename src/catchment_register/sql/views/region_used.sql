-- region_used: Regions that a published unit is in, with all that they lie in.
create or replace view register.region_used as
select c.*
  from register.region as c
 where exists (select from register.used_code as u
                 join register.region as n on n.id = u.code_id
                where u.kind = 'region'
                  and (n.path = c.path or starts_with(n.path, c.path || '.'))
                  and n.version_id = c.version_id);
comment on view register.region_used is 'Regions that a published unit is in, with all that they lie in.';
