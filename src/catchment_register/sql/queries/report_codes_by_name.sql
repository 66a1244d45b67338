-- Codes that a facet is chosen by.
select 'legal_form' as list, f.code, f.id from register.legal_form as f
union all
select 'country', c.iso_2, c.id from register.country as c
union all
select 'status', s.code, s.id from register.status as s;
