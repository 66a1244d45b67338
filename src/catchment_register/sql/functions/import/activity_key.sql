-- activity_key: the search key of an activity: the digits of a numeric code, else the text itself.
create or replace function register.activity_key(p_code text)
  returns text
  language sql immutable parallel safe
as $$
  select case when p_code ~ '^[0-9][0-9. ]*$' then translate(p_code, '. ', '') else p_code end;
$$;
