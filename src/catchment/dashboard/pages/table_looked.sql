-- table_looked: how far table_refreshes looks.
select min(l.id) as last_id, count(*) as looked
  from (select r.id
          from lake.refresh as r
         where r.dt_id = %(id)s::bigint
           and (%(before)s::bigint is null or r.id < %(before)s::bigint)
         order by r.id desc
         limit %(looked)s) as l
