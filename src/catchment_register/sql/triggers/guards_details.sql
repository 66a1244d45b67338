-- Rules between details and the units they belong to; see guards_units.sql for how these triggers read.

create or replace trigger guard_1_parent_insert after insert on register.activity referencing new table as changed
  for each statement execute function register.guard_parent('legal_unit_id', 'legal_unit', 'establishment_id', 'establishment');
create or replace trigger guard_1_parent_update after update on register.activity referencing new table as changed
  for each statement execute function register.guard_parent('legal_unit_id', 'legal_unit', 'establishment_id', 'establishment');
create or replace trigger guard_2_overlap_insert after insert on register.activity referencing new table as changed
  for each statement execute function register.guard_overlap('legal_unit_id,type', 'establishment_id,type');
create or replace trigger guard_2_overlap_update after update on register.activity referencing new table as changed
  for each statement execute function register.guard_overlap('legal_unit_id,type', 'establishment_id,type');
create or replace trigger guard_4_codes_insert after insert on register.activity referencing new table as changed
  for each statement execute function register.guard_codes('category_id', 'activity_category', 'data_source_id', 'data_source');
create or replace trigger guard_4_codes_update after update on register.activity referencing new table as changed
  for each statement execute function register.guard_codes('category_id', 'activity_category', 'data_source_id', 'data_source');
create or replace trigger refuse_truncate before truncate on register.activity
  for each statement execute function register.refuse_truncate();

create or replace trigger guard_1_parent_insert after insert on register.location referencing new table as changed
  for each statement execute function register.guard_parent('legal_unit_id', 'legal_unit', 'establishment_id', 'establishment');
create or replace trigger guard_1_parent_update after update on register.location referencing new table as changed
  for each statement execute function register.guard_parent('legal_unit_id', 'legal_unit', 'establishment_id', 'establishment');
create or replace trigger guard_2_overlap_insert after insert on register.location referencing new table as changed
  for each statement execute function register.guard_overlap('legal_unit_id,type', 'establishment_id,type');
create or replace trigger guard_2_overlap_update after update on register.location referencing new table as changed
  for each statement execute function register.guard_overlap('legal_unit_id,type', 'establishment_id,type');
create or replace trigger guard_4_codes_insert after insert on register.location referencing new table as changed
  for each statement execute function register.guard_codes('region_id', 'region', 'country_id', 'country', 'data_source_id',
    'data_source');
create or replace trigger guard_4_codes_update after update on register.location referencing new table as changed
  for each statement execute function register.guard_codes('region_id', 'region', 'country_id', 'country', 'data_source_id',
    'data_source');
create or replace trigger refuse_truncate before truncate on register.location
  for each statement execute function register.refuse_truncate();

create or replace trigger guard_1_parent_insert after insert on register.contact referencing new table as changed
  for each statement execute function register.guard_parent('legal_unit_id', 'legal_unit', 'establishment_id', 'establishment');
create or replace trigger guard_1_parent_update after update on register.contact referencing new table as changed
  for each statement execute function register.guard_parent('legal_unit_id', 'legal_unit', 'establishment_id', 'establishment');
create or replace trigger guard_2_overlap_insert after insert on register.contact referencing new table as changed
  for each statement execute function register.guard_overlap('legal_unit_id', 'establishment_id');
create or replace trigger guard_2_overlap_update after update on register.contact referencing new table as changed
  for each statement execute function register.guard_overlap('legal_unit_id', 'establishment_id');
create or replace trigger guard_4_codes_insert after insert on register.contact referencing new table as changed
  for each statement execute function register.guard_codes('data_source_id', 'data_source');
create or replace trigger guard_4_codes_update after update on register.contact referencing new table as changed
  for each statement execute function register.guard_codes('data_source_id', 'data_source');
create or replace trigger refuse_truncate before truncate on register.contact
  for each statement execute function register.refuse_truncate();

create or replace trigger guard_1_parent_insert after insert on register.stat_for_unit referencing new table as changed
  for each statement execute function register.guard_parent('legal_unit_id', 'legal_unit', 'establishment_id', 'establishment');
create or replace trigger guard_1_parent_update after update on register.stat_for_unit referencing new table as changed
  for each statement execute function register.guard_parent('legal_unit_id', 'legal_unit', 'establishment_id', 'establishment');
create or replace trigger guard_2_overlap_insert after insert on register.stat_for_unit referencing new table as changed
  for each statement execute function register.guard_overlap('legal_unit_id,stat_definition_id',
    'establishment_id,stat_definition_id');
create or replace trigger guard_2_overlap_update after update on register.stat_for_unit referencing new table as changed
  for each statement execute function register.guard_overlap('legal_unit_id,stat_definition_id',
    'establishment_id,stat_definition_id');
create or replace trigger guard_4_codes_insert after insert on register.stat_for_unit referencing new table as changed
  for each statement execute function register.guard_codes('stat_definition_id', 'stat_definition', 'data_source_id',
    'data_source');
create or replace trigger guard_4_codes_update after update on register.stat_for_unit referencing new table as changed
  for each statement execute function register.guard_codes('stat_definition_id', 'stat_definition', 'data_source_id',
    'data_source');
create or replace trigger guard_4_statistic_insert after insert on register.stat_for_unit referencing new table as changed
  for each statement execute function register.guard_statistic();
create or replace trigger guard_4_statistic_update after update on register.stat_for_unit referencing new table as changed
  for each statement execute function register.guard_statistic();
create or replace trigger refuse_truncate before truncate on register.stat_for_unit
  for each statement execute function register.refuse_truncate();

create or replace trigger guard_1_parent_insert after insert on register.person_for_unit referencing new table as changed
  for each statement execute function register.guard_parent('legal_unit_id', 'legal_unit', 'establishment_id', 'establishment',
    'person_id', 'person');
create or replace trigger guard_1_parent_update after update on register.person_for_unit referencing new table as changed
  for each statement execute function register.guard_parent('legal_unit_id', 'legal_unit', 'establishment_id', 'establishment',
    'person_id', 'person');
create or replace trigger guard_2_overlap_insert after insert on register.person_for_unit referencing new table as changed
  for each statement execute function register.guard_overlap('legal_unit_id,person_id,person_role_id',
    'establishment_id,person_id,person_role_id');
create or replace trigger guard_2_overlap_update after update on register.person_for_unit referencing new table as changed
  for each statement execute function register.guard_overlap('legal_unit_id,person_id,person_role_id',
    'establishment_id,person_id,person_role_id');
create or replace trigger guard_4_codes_insert after insert on register.person_for_unit referencing new table as changed
  for each statement execute function register.guard_codes('person_role_id', 'person_role', 'data_source_id', 'data_source');
create or replace trigger guard_4_codes_update after update on register.person_for_unit referencing new table as changed
  for each statement execute function register.guard_codes('person_role_id', 'person_role', 'data_source_id', 'data_source');
create or replace trigger refuse_truncate before truncate on register.person_for_unit
  for each statement execute function register.refuse_truncate();

create or replace trigger guard_1_owner_insert after insert on register.external_ident referencing new table as changed
  for each statement execute function register.guard_owner('legal_unit_id', 'legal_unit', 'establishment_id', 'establishment',
    'enterprise_id', 'enterprise', 'power_group_id', 'power_group', 'person_id', 'person');
create or replace trigger guard_1_owner_update after update on register.external_ident referencing new table as changed
  for each statement execute function register.guard_owner('legal_unit_id', 'legal_unit', 'establishment_id', 'establishment',
    'enterprise_id', 'enterprise', 'power_group_id', 'power_group', 'person_id', 'person');
create or replace trigger guard_4_codes_insert after insert on register.external_ident referencing new table as changed
  for each statement execute function register.guard_codes('type_id', 'external_ident_type');
create or replace trigger guard_4_codes_update after update on register.external_ident referencing new table as changed
  for each statement execute function register.guard_codes('type_id', 'external_ident_type');
create or replace trigger guard_5_ident_insert after insert on register.external_ident referencing new table as changed
  for each statement execute function register.guard_ident();
create or replace trigger guard_5_ident_update after update on register.external_ident referencing new table as changed
  for each statement execute function register.guard_ident();
create or replace trigger refuse_truncate before truncate on register.external_ident
  for each statement execute function register.refuse_truncate();

create or replace trigger guard_1_owner_insert after insert on register.tag_for_unit referencing new table as changed
  for each statement execute function register.guard_owner('legal_unit_id', 'legal_unit', 'establishment_id', 'establishment',
    'enterprise_id', 'enterprise', 'power_group_id', 'power_group');
create or replace trigger guard_1_owner_update after update on register.tag_for_unit referencing new table as changed
  for each statement execute function register.guard_owner('legal_unit_id', 'legal_unit', 'establishment_id', 'establishment',
    'enterprise_id', 'enterprise', 'power_group_id', 'power_group');
create or replace trigger guard_4_codes_insert after insert on register.tag_for_unit referencing new table as changed
  for each statement execute function register.guard_codes('tag_id', 'tag');
create or replace trigger guard_4_codes_update after update on register.tag_for_unit referencing new table as changed
  for each statement execute function register.guard_codes('tag_id', 'tag');
create or replace trigger refuse_truncate before truncate on register.tag_for_unit
  for each statement execute function register.refuse_truncate();

create or replace trigger guard_1_owner_insert after insert on register.unit_notes referencing new table as changed
  for each statement execute function register.guard_owner('legal_unit_id', 'legal_unit', 'establishment_id', 'establishment',
    'enterprise_id', 'enterprise', 'power_group_id', 'power_group');
create or replace trigger guard_1_owner_update after update on register.unit_notes referencing new table as changed
  for each statement execute function register.guard_owner('legal_unit_id', 'legal_unit', 'establishment_id', 'establishment',
    'enterprise_id', 'enterprise', 'power_group_id', 'power_group');

create or replace trigger refuse_delete_in_use after delete on register.person referencing old table as changed
  for each statement execute function register.refuse_delete_in_use('person_for_unit', 'person_id', 'external_ident', 'person_id');
create or replace trigger refuse_id_change before update of id on register.person
  for each row when (old.id <> new.id) execute function register.refuse_code_change();
