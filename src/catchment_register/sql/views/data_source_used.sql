-- data_source_used: Data sources that a published unit stems from.
create or replace view register.data_source_used as
select c.*
  from register.data_source as c
 where exists (select from register.used_code as u where u.kind = 'data_source' and u.code_id = c.id);
comment on view register.data_source_used is 'Data sources that a published unit stems from.';
