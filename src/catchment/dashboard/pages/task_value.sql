-- task_value: one value of a task as JSON text, at most the first characters of it, and its size.
select t.command, octet_length(v.value) as size, length(v.value) as length,
       left(v.value, %(most)s::integer) as value
  from worker.tasks as t
 cross join lateral (
   select case %(part)s::text
            when 'payload' then t.payload::text
            when 'result'  then t.result::text
            else t.info::text
          end as value
 ) as v
 where t.id = %(id)s::bigint
