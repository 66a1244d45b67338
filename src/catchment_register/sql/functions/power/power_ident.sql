-- power_ident: the identifier of a power group: PG and its number in base 36, with at least four digits.
create or replace function register.power_ident(p_id integer)
  returns text
  language plpgsql immutable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_digits text := '';
  v_rest   integer := p_id;
begin
  while v_rest > 0 loop
    v_digits := substr('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ', 1 + v_rest % 36, 1) || v_digits;
    v_rest := v_rest / 36;
  end loop;
  return 'PG' || lpad(v_digits, greatest(4, length(v_digits)), '0');
end;
$$;
