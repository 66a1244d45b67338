-- Change capture: each statement on base data notes which units it touched, by its old rows and by its new ones, and the
-- transaction asks once, as it commits, for a collection.

create or replace trigger capture_insert after insert on register.enterprise referencing new table as changed
  for each statement execute function register.capture_enterprise();
create or replace trigger capture_update_from after update on register.enterprise referencing old table as changed
  for each statement execute function register.capture_enterprise();
create or replace trigger capture_update_to after update on register.enterprise referencing new table as changed
  for each statement execute function register.capture_enterprise();
create or replace trigger capture_delete after delete on register.enterprise referencing old table as changed
  for each statement execute function register.capture_enterprise();

create or replace trigger capture_insert after insert on register.legal_unit referencing new table as changed
  for each statement execute function register.capture_legal_unit();
create or replace trigger capture_update_from after update on register.legal_unit referencing old table as changed
  for each statement execute function register.capture_legal_unit();
create or replace trigger capture_update_to after update on register.legal_unit referencing new table as changed
  for each statement execute function register.capture_legal_unit();
create or replace trigger capture_delete after delete on register.legal_unit referencing old table as changed
  for each statement execute function register.capture_legal_unit();

create or replace trigger capture_insert after insert on register.establishment referencing new table as changed
  for each statement execute function register.capture_establishment();
create or replace trigger capture_update_from after update on register.establishment referencing old table as changed
  for each statement execute function register.capture_establishment();
create or replace trigger capture_update_to after update on register.establishment referencing new table as changed
  for each statement execute function register.capture_establishment();
create or replace trigger capture_delete after delete on register.establishment referencing old table as changed
  for each statement execute function register.capture_establishment();

create or replace trigger capture_insert after insert on register.activity referencing new table as changed
  for each statement execute function register.capture_owned();
create or replace trigger capture_update_from after update on register.activity referencing old table as changed
  for each statement execute function register.capture_owned();
create or replace trigger capture_update_to after update on register.activity referencing new table as changed
  for each statement execute function register.capture_owned();
create or replace trigger capture_delete after delete on register.activity referencing old table as changed
  for each statement execute function register.capture_owned();

create or replace trigger capture_insert after insert on register.location referencing new table as changed
  for each statement execute function register.capture_owned();
create or replace trigger capture_update_from after update on register.location referencing old table as changed
  for each statement execute function register.capture_owned();
create or replace trigger capture_update_to after update on register.location referencing new table as changed
  for each statement execute function register.capture_owned();
create or replace trigger capture_delete after delete on register.location referencing old table as changed
  for each statement execute function register.capture_owned();

create or replace trigger capture_insert after insert on register.contact referencing new table as changed
  for each statement execute function register.capture_owned();
create or replace trigger capture_update_from after update on register.contact referencing old table as changed
  for each statement execute function register.capture_owned();
create or replace trigger capture_update_to after update on register.contact referencing new table as changed
  for each statement execute function register.capture_owned();
create or replace trigger capture_delete after delete on register.contact referencing old table as changed
  for each statement execute function register.capture_owned();

create or replace trigger capture_insert after insert on register.stat_for_unit referencing new table as changed
  for each statement execute function register.capture_owned();
create or replace trigger capture_update_from after update on register.stat_for_unit referencing old table as changed
  for each statement execute function register.capture_owned();
create or replace trigger capture_update_to after update on register.stat_for_unit referencing new table as changed
  for each statement execute function register.capture_owned();
create or replace trigger capture_delete after delete on register.stat_for_unit referencing old table as changed
  for each statement execute function register.capture_owned();

create or replace trigger capture_insert after insert on register.person_for_unit referencing new table as changed
  for each statement execute function register.capture_owned();
create or replace trigger capture_update_from after update on register.person_for_unit referencing old table as changed
  for each statement execute function register.capture_owned();
create or replace trigger capture_update_to after update on register.person_for_unit referencing new table as changed
  for each statement execute function register.capture_owned();
create or replace trigger capture_delete after delete on register.person_for_unit referencing old table as changed
  for each statement execute function register.capture_owned();

create or replace trigger capture_insert after insert on register.external_ident referencing new table as changed
  for each statement execute function register.capture_named();
create or replace trigger capture_update_from after update on register.external_ident referencing old table as changed
  for each statement execute function register.capture_named();
create or replace trigger capture_update_to after update on register.external_ident referencing new table as changed
  for each statement execute function register.capture_named();
create or replace trigger capture_delete after delete on register.external_ident referencing old table as changed
  for each statement execute function register.capture_named();

create or replace trigger capture_insert after insert on register.tag_for_unit referencing new table as changed
  for each statement execute function register.capture_named();
create or replace trigger capture_update_from after update on register.tag_for_unit referencing old table as changed
  for each statement execute function register.capture_named();
create or replace trigger capture_update_to after update on register.tag_for_unit referencing new table as changed
  for each statement execute function register.capture_named();
create or replace trigger capture_delete after delete on register.tag_for_unit referencing old table as changed
  for each statement execute function register.capture_named();

create or replace trigger capture_insert after insert on register.legal_relationship referencing new table as changed
  for each statement execute function register.capture_relationship();
create or replace trigger capture_update_from after update on register.legal_relationship referencing old table as changed
  for each statement execute function register.capture_relationship();
create or replace trigger capture_update_to after update on register.legal_relationship referencing new table as changed
  for each statement execute function register.capture_relationship();
create or replace trigger capture_delete after delete on register.legal_relationship referencing old table as changed
  for each statement execute function register.capture_relationship();

create or replace trigger capture_insert after insert on register.power_group referencing new table as changed
  for each statement execute function register.capture_power_group();
create or replace trigger capture_update_from after update on register.power_group referencing old table as changed
  for each statement execute function register.capture_power_group();
create or replace trigger capture_update_to after update on register.power_group referencing new table as changed
  for each statement execute function register.capture_power_group();
create or replace trigger capture_delete after delete on register.power_group referencing old table as changed
  for each statement execute function register.capture_power_group();

create or replace trigger capture_insert after insert on register.power_root referencing new table as changed
  for each statement execute function register.capture_power_root();
create or replace trigger capture_update_from after update on register.power_root referencing old table as changed
  for each statement execute function register.capture_power_root();
create or replace trigger capture_update_to after update on register.power_root referencing new table as changed
  for each statement execute function register.capture_power_root();
create or replace trigger capture_delete after delete on register.power_root referencing old table as changed
  for each statement execute function register.capture_power_root();

create or replace trigger capture_path after update on register.region referencing old table as was new table as changed
  for each statement execute function register.capture_path();
create or replace trigger capture_path after update on register.activity_category referencing old table as was new table as changed
  for each statement execute function register.capture_path();
create or replace trigger capture_path after update on register.sector referencing old table as was new table as changed
  for each statement execute function register.capture_path();
create or replace trigger capture_status after update on register.status referencing old table as was new table as changed
  for each statement execute function register.capture_status();

drop trigger if exists request_collect on register.base_change_log;
create constraint trigger request_collect after insert on register.base_change_log
  deferrable initially deferred for each row when (new.round_id is null) execute function register.request_collect();
