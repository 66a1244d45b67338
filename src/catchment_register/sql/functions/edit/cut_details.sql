-- cut_details: remove a period from all details with validity of units of one kind, except the units' own slices and
-- those of establishments.
create or replace function register.cut_details(
  p_owner        text,
  p_ids          integer[],
  p_valid_from   date default '-infinity',
  p_valid_until  date default 'infinity'
)
  returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  perform register.cut_slices(t.name, p_owner, p_ids, p_valid_from, p_valid_until)
     from unnest('{activity,location,contact,stat_for_unit,person_for_unit}'::text[]) as t (name);
  if p_owner = 'legal_unit_id' then
    perform register.cut_slices('legal_relationship', 'influencing_id', p_ids, p_valid_from, p_valid_until);
    perform register.cut_slices('legal_relationship', 'influenced_id', p_ids, p_valid_from, p_valid_until);
  end if;
end;
$$;
