-- is_before: compare two JSON scalars as the type a merge rule names; ties count as before.
create or replace function worker.is_before(
  p_left   text,
  p_right  text,
  p_type   text
)
  returns boolean
  language sql
  immutable
return case p_type
         when 'number'      then p_left::numeric <= p_right::numeric
         when 'numeric'     then p_left::numeric <= p_right::numeric
         when 'date'        then p_left::date <= p_right::date
         when 'timestamptz' then p_left::timestamptz <= p_right::timestamptz
         else p_left collate "C" <= p_right collate "C"
       end;
