-- capture_relationship: log changed relationships: both ends, because their groups are determined again, and the groups
-- they had.
create or replace function register.capture_relationship()
  returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform register.log_change(
    p_power_group_ids             => (select range_agg(int4range(c.derived_power_group_id, c.derived_power_group_id,
                                                                 '[]'))
                                        from changed as c where c.derived_power_group_id is not null),
    p_relationship_legal_unit_ids => (select range_agg(int4range(e.id, e.id, '[]'))
                                        from changed as c
                                       cross join lateral (values (c.influencing_id), (c.influenced_id)) as e (id)),
    p_valid_ranges                => (select range_agg(daterange(c.valid_from, c.valid_until)) from changed as c));
  return null;
end;
$$;
