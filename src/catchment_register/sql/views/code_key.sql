-- code_key: what people may write for a code of a list, and its id: the code or the path, of the configured standard
-- and version. Where two paths have the same digits, the broader one has them. An activity is sought by its digits if
-- it has any.
create or replace view register.code_key as
select 'sector' as kind, s.key, s.id
  from (select distinct on (k.key) k.key, s.id
          from register.sector as s cross join lateral (values (s.code, 2), (s.path, 1)) as k (key, rank)
         where s.enabled and k.key is not null
         order by k.key, k.rank, s.path) as s
union all
select 'region', r.key, r.id
  from (select distinct on (k.key) k.key, r.id
          from register.region as r cross join lateral (values (r.code, 2), (r.path, 1)) as k (key, rank)
         where r.enabled and k.key is not null
           and r.version_id = coalesce((select s.region_version_id from register.settings as s), r.version_id)
         order by k.key, k.rank, r.path) as r
union all
select 'activity', a.key, a.id
  from (select distinct on (k.key) k.key, a.id
          from register.activity_category as a
         cross join lateral (values (nullif(a.code_key, ''), 2), (a.path, 1)) as k (key, rank)
         where a.enabled and k.key is not null
           and a.standard_id = (select s.activity_category_standard_id from register.settings as s)
         order by k.key, k.rank, a.path) as a
union all
select 'legal_form', l.code, l.id from register.legal_form as l where l.enabled
union all
select 'status', s.code, s.id from register.status as s where s.enabled
union all
select 'unit_size', s.code, s.id from register.unit_size as s where s.enabled
union all
select 'data_source', d.code, d.id from register.data_source as d where d.enabled
union all
select 'country', c.iso_2, c.id from register.country as c where c.enabled
union all
select 'rel_type', t.code, t.id from register.legal_rel_type as t where t.enabled
union all
select 'tag', t.path, t.id from register.tag as t where t.enabled
union all
select 'stat', d.code, d.id from register.stat_definition as d where d.enabled
union all
select 'ident_type', t.code, t.id from register.external_ident_type as t where t.enabled;
comment on view register.code_key is 'What people may write for a code, and its id.';
