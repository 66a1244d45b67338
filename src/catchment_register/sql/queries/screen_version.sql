-- Changes whenever a report does.
select string_agg(s.report || '/' || coalesce(s.applied_flush_id::text, '') || '/' || coalesce(s.through::text, ''), ' '
                  order by s.report) || ' ' || register.today() as version
  from register.report_state as s;
