-- legal_form_used: Legal forms that a published unit has.
create or replace view register.legal_form_used as
select c.*
  from register.legal_form as c
 where exists (select from register.used_code as u where u.kind = 'legal_form' and u.code_id = c.id);
comment on view register.legal_form_used is 'Legal forms that a published unit has.';
