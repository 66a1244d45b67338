-- activity_category_used: Activities of the standard in use that a published unit has, with all that they lie in.
create or replace view register.activity_category_used as
select c.*
  from register.activity_category as c
 where exists (select from register.used_code as u
                 join register.activity_category as n on n.id = u.code_id
                where u.kind = 'activity'
                  and (n.path = c.path or starts_with(n.path, c.path || '.'))
                  and n.standard_id = c.standard_id)
   and c.enabled
   and c.standard_id = (select s.activity_category_standard_id from register.settings as s);
comment on view register.activity_category_used is
  'Activities of the standard in use that a published unit has, with all that they lie in.';
