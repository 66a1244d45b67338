-- activity_code: the common notation of an activity's path, by the pattern of its standard: 45.112 or 45112; a section
-- is its letter.
create or replace function register.activity_code(
  p_path     text,
  p_pattern  text
)
  returns text
  language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select case
           when d.digits = '' then regexp_replace(p_path, '^.*\.', '')
           when p_pattern = 'dot_after_two_digits' and length(d.digits) > 2
             then left(d.digits, 2) || '.' || substr(d.digits, 3)
           else d.digits
         end
    from (select regexp_replace(p_path, '[^0-9]', '', 'g') as digits) as d;
$$;
