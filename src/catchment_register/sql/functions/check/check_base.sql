-- check_base: check all base data against the rules that triggers enforce on each write. Finds also what two sessions
-- could have written past each other, and what was written with triggers off.
--
--   plan    no_jit, memory_128
create or replace function register.check_base()
  returns table (rule text, detail text)
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  with detail as not materialized (
    select 'activity' as what, a.legal_unit_id, a.establishment_id, a.type as key, a.valid_from, a.valid_until
      from register.activity as a
    union all
    select 'location', l.legal_unit_id, l.establishment_id, l.type, l.valid_from, l.valid_until
      from register.location as l
    union all
    select 'contact', c.legal_unit_id, c.establishment_id, null, c.valid_from, c.valid_until from register.contact as c
    union all
    select 'stat_for_unit', s.legal_unit_id, s.establishment_id, s.stat_definition_id::text, s.valid_from, s.valid_until
      from register.stat_for_unit as s
    union all
    select 'person_for_unit', p.legal_unit_id, p.establishment_id, concat_ws('/', p.person_id, p.person_role_id),
           p.valid_from, p.valid_until
      from register.person_for_unit as p
  ),
  slice as (
    select 'legal_unit' as what, l.id::text as key, l.valid_from, l.valid_until from register.legal_unit as l
    union all
    select 'establishment', e.id::text, e.valid_from, e.valid_until from register.establishment as e
    union all
    select d.what, concat_ws('/', d.legal_unit_id, 'e' || d.establishment_id, d.key), d.valid_from, d.valid_until
      from detail as d
    union all
    select 'power_root', p.power_group_id::text, p.valid_from, p.valid_until from register.power_root as p
    union all
    select 'legal_relationship', concat_ws('/', r.influencing_id, r.influenced_id, r.type_id), r.valid_from,
           r.valid_until
      from register.legal_relationship as r
    union all
    select 'primary influencer', r.influenced_id::text, r.valid_from, r.valid_until
      from register.legal_relationship as r where r.primary_influencer_only
    union all
    select 'primary for enterprise', l.enterprise_id::text, l.valid_from, l.valid_until
      from register.legal_unit as l where l.primary_for_enterprise
    union all
    select 'primary establishment for enterprise', e.enterprise_id::text, e.valid_from, e.valid_until
      from register.establishment as e where e.primary_for_enterprise
    union all
    select 'primary for legal unit', e.legal_unit_id::text, e.valid_from, e.valid_until
      from register.establishment as e where e.primary_for_legal_unit
  ),
  owner as materialized (
    select 'l' as kind, l.id, range_agg(daterange(l.valid_from, l.valid_until)) as valid
      from register.legal_unit as l group by l.id
    union all
    select 'e', e.id, range_agg(daterange(e.valid_from, e.valid_until)) from register.establishment as e group by e.id
  ),
  owned as (
    select 'establishment' as what, 'l' as kind, e.legal_unit_id as owner_id, e.valid_from, e.valid_until
      from register.establishment as e where e.legal_unit_id is not null
    union all
    select d.what, case when d.legal_unit_id is not null then 'l' else 'e' end,
           coalesce(d.legal_unit_id, d.establishment_id), d.valid_from, d.valid_until
      from detail as d
    union all
    select 'legal_relationship', 'l', e.id, r.valid_from, r.valid_until
      from register.legal_relationship as r
     cross join lateral (values (r.influencing_id), (r.influenced_id)) as e (id)
  ),
  coded as (
    select 'legal_unit' as what, c.kind, c.id
      from register.legal_unit as l
     cross join lateral (values ('status', l.status_id), ('sector', l.sector_id), ('legal_form', l.legal_form_id),
                                ('unit_size', l.unit_size_id), ('data_source', l.data_source_id),
                                ('enterprise', l.enterprise_id)) as c (kind, id)
    union all
    select 'establishment', c.kind, c.id
      from register.establishment as e
     cross join lateral (values ('status', e.status_id), ('sector', e.sector_id), ('unit_size', e.unit_size_id),
                                ('data_source', e.data_source_id), ('enterprise', e.enterprise_id)) as c (kind, id)
    union all
    select 'activity', 'activity', a.category_id from register.activity as a
    union all
    select 'location', c.kind, c.id
      from register.location as l cross join lateral (values ('region', l.region_id),
                                                      ('country', l.country_id)) as c (kind, id)
    union all
    select 'stat_for_unit', 'stat_definition', s.stat_definition_id from register.stat_for_unit as s
  ),
  code as (
    select 'status' as kind, s.id from register.status as s
    union all
    select 'sector', s.id from register.sector as s
    union all
    select 'legal_form', f.id from register.legal_form as f
    union all
    select 'unit_size', u.id from register.unit_size as u
    union all
    select 'data_source', d.id from register.data_source as d
    union all
    select 'enterprise', e.id from register.enterprise as e
    union all
    select 'activity', a.id from register.activity_category as a
    union all
    select 'region', r.id from register.region as r
    union all
    select 'country', c.id from register.country as c
    union all
    select 'stat_definition', d.id from register.stat_definition as d
  )
  select 'rows of one key are never valid on the same day', format('%s %s from %s', s.what, s.key, s.valid_from)
    from (select x.*, lead(x.valid_from) over (partition by x.what, x.key order by x.valid_from) as following
            from slice as x) as s
   where s.following < s.valid_until
  union all
  select 'what a row belongs to is there for all of its time',
         format('%s of %s %s from %s', d.what, d.kind, d.owner_id, d.valid_from)
    from owned as d
    left join owner as o on o.kind = d.kind and o.id = d.owner_id
   where (daterange(d.valid_from, d.valid_until) <@ o.valid) is not true
  union all
  select 'an enterprise that has units has a primary one', format('enterprise %s from %s', p.enterprise_id, lower(t))
    from (select u.enterprise_id, range_agg(daterange(u.valid_from, u.valid_until)) as times
            from (select l.enterprise_id, l.valid_from, l.valid_until
                    from register.legal_unit as l where not l.primary_for_enterprise
                  union all
                  select e.enterprise_id, e.valid_from, e.valid_until
                    from register.establishment as e where not e.primary_for_enterprise) as u
           group by u.enterprise_id) as p
    left join lateral (
      select range_agg(daterange(u.valid_from, u.valid_until)) as times
        from (select l.valid_from, l.valid_until
                from register.legal_unit as l where l.enterprise_id = p.enterprise_id and l.primary_for_enterprise
              union all
              select e.valid_from, e.valid_until
                from register.establishment as e where e.enterprise_id = p.enterprise_id
                 and e.primary_for_enterprise) as u
    ) as m on true
   cross join lateral unnest(p.times - coalesce(m.times, '{}')) as t
  union all
  select 'a code is in its list', format('%s: %s %s', c.what, c.kind, c.id)
    from (select distinct x.what, x.kind, x.id from coded as x where x.id is not null) as c
   where not exists (select from code as k where k.kind = c.kind and k.id = c.id);
$$;
