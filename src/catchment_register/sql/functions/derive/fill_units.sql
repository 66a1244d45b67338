-- fill_units: let the batches of a round over all units write to the table of published units, if it is empty.
create or replace function register.fill_units(p_round register.round)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if p_round.kind = 'all' and not exists (select from register.statistical_unit_row) then
    perform register.begin_fill(p_round.id, 'statistical_unit');
  end if;
end;
$$;
