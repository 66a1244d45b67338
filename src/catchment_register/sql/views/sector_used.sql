-- sector_used: Sectors that a published unit is in, with all that they lie in.
create or replace view register.sector_used as
select c.*
  from register.sector as c
 where exists (select from register.used_code as u
                 join register.sector as n on n.id = u.code_id
                where u.kind = 'sector'
                  and (n.path = c.path or starts_with(n.path, c.path || '.')));
comment on view register.sector_used is 'Sectors that a published unit is in, with all that they lie in.';
