-- Codes of the list legal_form that units have.
select c.code, c.name from register.legal_form_used as c order by c.code;
