-- said_span: a duration for people, in its largest unit.
create or replace function worker.said_span(p_span interval)
  returns text
  language sql immutable
return case
         when p_span >= interval '2 days'    then floor(extract(epoch from p_span) / 86400) || ' d'
         when p_span >= interval '2 hours'   then floor(extract(epoch from p_span) / 3600) || ' h'
         when p_span >= interval '2 minutes' then floor(extract(epoch from p_span) / 60) || ' min'
         else floor(extract(epoch from p_span)) || ' s'
       end;
