-- said_more: how many more tasks are before one, as the end of a sentence; counting stopped at 1000.
create or replace function worker.said_more(p_count bigint)
  returns text
  language sql immutable
return case
         when p_count = 0     then ''
         when p_count = 1     then '; 1 more task is before it'
         when p_count >= 1000 then '; at least 1000 more tasks are before it'
         else '; ' || p_count || ' more tasks are before it'
       end;
