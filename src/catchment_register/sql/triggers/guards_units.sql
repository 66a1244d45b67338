-- Rules between units. A function reads the changed rows from a transition table that is always called changed: new rows of an
-- INSERT or UPDATE, or old rows of an UPDATE or DELETE. Triggers of one event run in the order of their names: a guard that looks
-- at what others committed comes after the one that locks.

create or replace trigger guard_1_parent_insert after insert on register.legal_unit referencing new table as changed
  for each statement execute function register.guard_parent('enterprise_id', 'enterprise');
create or replace trigger guard_1_parent_update after update on register.legal_unit referencing new table as changed
  for each statement execute function register.guard_parent('enterprise_id', 'enterprise');
create or replace trigger guard_2_overlap_insert after insert on register.legal_unit referencing new table as changed
  for each statement execute function register.guard_overlap('id');
create or replace trigger guard_2_overlap_update after update on register.legal_unit referencing new table as changed
  for each statement execute function register.guard_overlap('id');
create or replace trigger guard_3_primary_insert after insert on register.legal_unit referencing new table as changed
  for each statement execute function register.guard_primary('primary_for_enterprise', 'enterprise_id');
create or replace trigger guard_3_primary_update after update on register.legal_unit referencing new table as changed
  for each statement execute function register.guard_primary('primary_for_enterprise', 'enterprise_id');
create or replace trigger guard_4_codes_insert after insert on register.legal_unit referencing new table as changed
  for each statement execute function register.guard_codes('sector_id', 'sector', 'status_id', 'status', 'legal_form_id',
    'legal_form', 'unit_size_id', 'unit_size', 'data_source_id', 'data_source', 'foreign_participation_id', 'foreign_participation',
    'image_id', 'image');
create or replace trigger guard_4_codes_update after update on register.legal_unit referencing new table as changed
  for each statement execute function register.guard_codes('sector_id', 'sector', 'status_id', 'status', 'legal_form_id',
    'legal_form', 'unit_size_id', 'unit_size', 'data_source_id', 'data_source', 'foreign_participation_id', 'foreign_participation',
    'image_id', 'image');
create or replace trigger guard_5_children_delete after delete on register.legal_unit referencing old table as changed
  for each statement execute function register.guard_children('establishment', 'legal_unit_id', 'activity', 'legal_unit_id',
    'location', 'legal_unit_id', 'contact', 'legal_unit_id', 'stat_for_unit', 'legal_unit_id', 'person_for_unit', 'legal_unit_id',
    'external_ident', 'legal_unit_id', 'tag_for_unit', 'legal_unit_id', 'unit_notes', 'legal_unit_id', 'legal_relationship',
    'influencing_id', 'legal_relationship', 'influenced_id');
create or replace trigger guard_5_children_update after update on register.legal_unit referencing old table as changed
  for each statement execute function register.guard_children('establishment', 'legal_unit_id', 'activity', 'legal_unit_id',
    'location', 'legal_unit_id', 'contact', 'legal_unit_id', 'stat_for_unit', 'legal_unit_id', 'person_for_unit', 'legal_unit_id',
    'external_ident', 'legal_unit_id', 'tag_for_unit', 'legal_unit_id', 'unit_notes', 'legal_unit_id', 'legal_relationship',
    'influencing_id', 'legal_relationship', 'influenced_id');
create or replace trigger refuse_truncate before truncate on register.legal_unit
  for each statement execute function register.refuse_truncate();

create or replace trigger guard_1_parent_insert after insert on register.establishment referencing new table as changed
  for each statement execute function register.guard_parent('legal_unit_id', 'legal_unit', 'enterprise_id', 'enterprise');
create or replace trigger guard_1_parent_update after update on register.establishment referencing new table as changed
  for each statement execute function register.guard_parent('legal_unit_id', 'legal_unit', 'enterprise_id', 'enterprise');
create or replace trigger guard_2_overlap_insert after insert on register.establishment referencing new table as changed
  for each statement execute function register.guard_overlap('id');
create or replace trigger guard_2_overlap_update after update on register.establishment referencing new table as changed
  for each statement execute function register.guard_overlap('id');
create or replace trigger guard_3_primary_insert after insert on register.establishment referencing new table as changed
  for each statement execute function register.guard_primary('primary_for_legal_unit', 'legal_unit_id', 'primary_for_enterprise',
    'enterprise_id');
create or replace trigger guard_3_primary_update after update on register.establishment referencing new table as changed
  for each statement execute function register.guard_primary('primary_for_legal_unit', 'legal_unit_id', 'primary_for_enterprise',
    'enterprise_id');
create or replace trigger guard_4_codes_insert after insert on register.establishment referencing new table as changed
  for each statement execute function register.guard_codes('sector_id', 'sector', 'status_id', 'status', 'unit_size_id',
    'unit_size', 'data_source_id', 'data_source', 'foreign_participation_id', 'foreign_participation', 'image_id', 'image');
create or replace trigger guard_4_codes_update after update on register.establishment referencing new table as changed
  for each statement execute function register.guard_codes('sector_id', 'sector', 'status_id', 'status', 'unit_size_id',
    'unit_size', 'data_source_id', 'data_source', 'foreign_participation_id', 'foreign_participation', 'image_id', 'image');
create or replace trigger guard_5_children_delete after delete on register.establishment referencing old table as changed
  for each statement execute function register.guard_children('activity', 'establishment_id', 'location', 'establishment_id',
    'contact', 'establishment_id', 'stat_for_unit', 'establishment_id', 'person_for_unit', 'establishment_id', 'external_ident',
    'establishment_id', 'tag_for_unit', 'establishment_id', 'unit_notes', 'establishment_id');
create or replace trigger guard_5_children_update after update on register.establishment referencing old table as changed
  for each statement execute function register.guard_children('activity', 'establishment_id', 'location', 'establishment_id',
    'contact', 'establishment_id', 'stat_for_unit', 'establishment_id', 'person_for_unit', 'establishment_id', 'external_ident',
    'establishment_id', 'tag_for_unit', 'establishment_id', 'unit_notes', 'establishment_id');
create or replace trigger refuse_truncate before truncate on register.establishment
  for each statement execute function register.refuse_truncate();

create or replace trigger guard_1_parent_insert after insert on register.legal_relationship referencing new table as changed
  for each statement execute function register.guard_parent('influencing_id', 'legal_unit', 'influenced_id', 'legal_unit');
create or replace trigger guard_1_parent_update after update on register.legal_relationship referencing new table as changed
  for each statement execute function register.guard_parent('influencing_id', 'legal_unit', 'influenced_id', 'legal_unit');
create or replace trigger guard_2_overlap_insert after insert on register.legal_relationship referencing new table as changed
  for each statement execute function register.guard_overlap('influencing_id,influenced_id,type_id');
create or replace trigger guard_2_overlap_update after update on register.legal_relationship referencing new table as changed
  for each statement execute function register.guard_overlap('influencing_id,influenced_id,type_id');
create or replace trigger guard_3_primary_insert after insert on register.legal_relationship referencing new table as changed
  for each statement execute function register.guard_primary('primary_influencer_only', 'influenced_id');
create or replace trigger guard_3_primary_update after update on register.legal_relationship referencing new table as changed
  for each statement execute function register.guard_primary('primary_influencer_only', 'influenced_id');
create or replace trigger guard_4_codes_insert after insert on register.legal_relationship referencing new table as changed
  for each statement execute function register.guard_codes('type_id', 'legal_rel_type', 'data_source_id', 'data_source');
create or replace trigger guard_4_codes_update after update on register.legal_relationship referencing new table as changed
  for each statement execute function register.guard_codes('type_id', 'legal_rel_type', 'data_source_id', 'data_source');
create or replace trigger copy_primary_influencer
  before insert or update of type_id, primary_influencer_only on register.legal_relationship
  for each row execute function register.copy_primary_influencer();
create or replace trigger refuse_truncate before truncate on register.legal_relationship
  for each statement execute function register.refuse_truncate();

create or replace trigger guard_1_parent_insert after insert on register.power_root referencing new table as changed
  for each statement execute function register.guard_parent('power_group_id', 'power_group');
create or replace trigger guard_1_parent_update after update on register.power_root referencing new table as changed
  for each statement execute function register.guard_parent('power_group_id', 'power_group');
create or replace trigger guard_2_overlap_insert after insert on register.power_root referencing new table as changed
  for each statement execute function register.guard_overlap('power_group_id');
create or replace trigger guard_2_overlap_update after update on register.power_root referencing new table as changed
  for each statement execute function register.guard_overlap('power_group_id');
create or replace trigger guard_4_owner_insert after insert on register.power_root referencing new table as changed
  for each statement execute function register.guard_owner('derived_root_legal_unit_id', 'legal_unit', 'custom_root_legal_unit_id',
    'legal_unit');
create or replace trigger guard_4_owner_update after update on register.power_root referencing new table as changed
  for each statement execute function register.guard_owner('derived_root_legal_unit_id', 'legal_unit', 'custom_root_legal_unit_id',
    'legal_unit');
create or replace trigger guard_5_root_insert after insert on register.power_root referencing new table as changed
  for each statement execute function register.guard_root();
create or replace trigger guard_5_root_update after update on register.power_root referencing new table as changed
  for each statement execute function register.guard_root();
create or replace trigger refuse_truncate before truncate on register.power_root
  for each statement execute function register.refuse_truncate();

create or replace trigger refuse_delete_in_use after delete on register.enterprise referencing old table as changed
  for each statement execute function register.refuse_delete_in_use('legal_unit', 'enterprise_id', 'establishment', 'enterprise_id',
    'external_ident', 'enterprise_id', 'tag_for_unit', 'enterprise_id', 'unit_notes', 'enterprise_id');
create or replace trigger refuse_id_change before update of id on register.enterprise
  for each row when (old.id <> new.id) execute function register.refuse_code_change();
create or replace trigger refuse_truncate before truncate on register.enterprise
  for each statement execute function register.refuse_truncate();

create or replace trigger refuse_delete_in_use after delete on register.power_group referencing old table as changed
  for each statement execute function register.refuse_delete_in_use('legal_relationship', 'derived_power_group_id', 'power_root',
    'power_group_id', 'external_ident', 'power_group_id', 'tag_for_unit', 'power_group_id', 'unit_notes', 'power_group_id');
create or replace trigger refuse_id_change before update of id on register.power_group
  for each row when (old.id <> new.id) execute function register.refuse_code_change();
create or replace trigger guard_4_codes_insert after insert on register.power_group referencing new table as changed
  for each statement execute function register.guard_codes('type_id', 'power_group_type');
create or replace trigger guard_4_codes_update after update on register.power_group referencing new table as changed
  for each statement execute function register.guard_codes('type_id', 'power_group_type');
create or replace trigger refuse_truncate before truncate on register.power_group
  for each statement execute function register.refuse_truncate();
