-- The path of a region, activity or sector that is named by its code or its path: of the current list, else of any.
-- Activities are sought by their digits if they are written in digits.
with asked as (
  select %(kind)s::text as kind,
         case when %(kind)s = 'activity' and %(text)s ~ '^[0-9][0-9. ]*$' then translate(%(text)s, '. ', '')
              else %(text)s end as key
),
listed as (
  select 'region' as kind, r.id, r.path, r.code from register.region as r
  union all
  select 'activity', a.id, a.path, a.code_key from register.activity_category as a
  union all
  select 'sector', s.id, s.path, s.code from register.sector as s
)
select l.path
  from asked as a
  join listed as l on l.kind = a.kind
  left join register.code_key as k on k.kind = a.kind and k.key = a.key and k.id = l.id
 where k.id is not null
    or a.key in (l.path, l.code)
 order by k.id is null, l.path
 limit 1;
