-- is_before: compare two JSON scalars as the type a merge rule names. Two ways to write one value are compared as text,
-- so that of any two the same one is first, whichever came first.
create or replace function worker.is_before(
  p_left   text,
  p_right  text,
  p_type   text
)
  returns boolean
  language sql immutable
return case p_type
         when 'numeric'     then (p_left::numeric, p_left collate "C") <= (p_right::numeric, p_right collate "C")
         when 'date'        then (p_left::date, p_left collate "C") <= (p_right::date, p_right collate "C")
         when 'timestamptz' then (p_left::timestamptz, p_left collate "C")
                                 <= (p_right::timestamptz, p_right collate "C")
         else p_left collate "C" <= p_right collate "C"
       end;
