-- fill_history_facet: let children write to the history by facet itself, if it is made from all units and empty.
create or replace function register.fill_history_facet(
  p_round_id    bigint,
  p_is_rebuild  boolean
)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if p_is_rebuild and not exists (select from register.statistical_history_facet_row) then
    perform register.begin_fill(p_round_id, 'statistical_history_facet');
  end if;
end;
$$;
