-- parse_stat: the value of a statistic as JSON, or null if the text is no value of that type. Stable as to_jsonb is, or
-- it would not be inlined.
create or replace function register.parse_stat(
  p_type  text,
  p_text  text
)
  returns jsonb
  language sql stable parallel safe
as $$
  select case p_type
           when 'int'    then case when length(p_text) <= 18 and p_text ~ '^[+-]?[0-9]+$'
                                     then to_jsonb(p_text::bigint) end
           when 'float'  then to_jsonb(register.parse_number(p_text))
           when 'string' then to_jsonb(p_text)
           when 'bool'   then case when lower(p_text) in ('true', 't', 'yes', 'y', '1') then to_jsonb(true)
                                   when lower(p_text) in ('false', 'f', 'no', 'n', '0') then to_jsonb(false) end
         end;
$$;
