-- capture_power_root: log the group of a changed root. Its units are logged like those of changed relationships,
-- because its roots are chosen again.
create or replace function register.capture_power_root()
  returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform register.log_change(
    p_power_group_ids             => (select range_agg(int4range(c.power_group_id, c.power_group_id, '[]'))
                                        from changed as c),
    p_relationship_legal_unit_ids => (select range_agg(int4range(e.id, e.id, '[]'))
                                        from register.legal_relationship as r
                                       cross join lateral (values (r.influencing_id), (r.influenced_id)) as e (id)
                                       where r.derived_power_group_id = any (array(select c.power_group_id
                                                                                     from changed as c))),
    p_valid_ranges                => (select range_agg(daterange(c.valid_from, c.valid_until)) from changed as c));
  return null;
end;
$$;
