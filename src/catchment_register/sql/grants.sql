-- Least privilege. Functions run as the owner and check their arguments. Members: register_read reads everything,
-- register_edit changes base data and code lists and requests work, catchment_worker runs the handlers and nothing
-- else: every procedure of this schema is a handler, a hook or a join. Parts with functions for people grant these in
-- grants/.
revoke all on schema register from public;
grant usage on schema register to register_read, register_edit, catchment_worker;
revoke all on all tables in schema register from public, register_read, register_edit, catchment_worker;
revoke all on all sequences in schema register from public, register_read, register_edit, catchment_worker;
revoke all on all routines in schema register from public, register_read, register_edit, catchment_worker;

grant select on all tables in schema register to register_read;
grant execute on function register.today() to register_read, catchment_worker;

grant insert, update, delete
   on register.image, register.enterprise, register.legal_unit, register.establishment, register.activity,
   register.location,
      register.contact, register.stat_for_unit, register.person, register.person_for_unit, register.external_ident,
      register.tag_for_unit, register.unit_notes, register.power_group, register.legal_relationship, register.power_root
   to register_edit;
grant insert, update
   on register.activity_category_standard, register.activity_category, register.region_version, register.region,
   register.sector,
      register.tag, register.legal_form, register.country, register.status, register.unit_size, register.data_source,
      register.foreign_participation, register.external_ident_type, register.stat_definition, register.legal_rel_type,
      register.power_group_type, register.person_role
   to register_edit;
grant update on register.settings to register_edit;
grant usage on sequence register.legal_unit_id_seq, register.establishment_id_seq to register_edit;

grant execute on all procedures in schema register to catchment_worker;
