-- Code lists are added to and corrected, never deleted from: so whoever names a code needs no lock on it. The same goes for images.

create or replace trigger refuse_delete before delete on register.activity_category_standard
  for each row execute function register.refuse_code_change();
create or replace trigger refuse_id_change before update of id on register.activity_category_standard
  for each row when (old.id <> new.id) execute function register.refuse_code_change();
create or replace trigger refuse_truncate before truncate on register.activity_category_standard
  for each statement execute function register.refuse_truncate();
create or replace trigger refuse_delete before delete on register.activity_category
  for each row execute function register.refuse_code_change();
create or replace trigger refuse_id_change before update of id on register.activity_category
  for each row when (old.id <> new.id) execute function register.refuse_code_change();
create or replace trigger refuse_truncate before truncate on register.activity_category
  for each statement execute function register.refuse_truncate();
create or replace trigger refuse_delete before delete on register.region_version
  for each row execute function register.refuse_code_change();
create or replace trigger refuse_id_change before update of id on register.region_version
  for each row when (old.id <> new.id) execute function register.refuse_code_change();
create or replace trigger refuse_truncate before truncate on register.region_version
  for each statement execute function register.refuse_truncate();
create or replace trigger refuse_delete before delete on register.region
  for each row execute function register.refuse_code_change();
create or replace trigger refuse_id_change before update of id on register.region
  for each row when (old.id <> new.id) execute function register.refuse_code_change();
create or replace trigger refuse_truncate before truncate on register.region
  for each statement execute function register.refuse_truncate();
create or replace trigger refuse_delete before delete on register.sector
  for each row execute function register.refuse_code_change();
create or replace trigger refuse_id_change before update of id on register.sector
  for each row when (old.id <> new.id) execute function register.refuse_code_change();
create or replace trigger refuse_truncate before truncate on register.sector
  for each statement execute function register.refuse_truncate();
create or replace trigger refuse_delete before delete on register.tag
  for each row execute function register.refuse_code_change();
create or replace trigger refuse_id_change before update of id on register.tag
  for each row when (old.id <> new.id) execute function register.refuse_code_change();
create or replace trigger refuse_truncate before truncate on register.tag
  for each statement execute function register.refuse_truncate();
create or replace trigger refuse_delete before delete on register.legal_form
  for each row execute function register.refuse_code_change();
create or replace trigger refuse_id_change before update of id on register.legal_form
  for each row when (old.id <> new.id) execute function register.refuse_code_change();
create or replace trigger refuse_truncate before truncate on register.legal_form
  for each statement execute function register.refuse_truncate();
create or replace trigger refuse_delete before delete on register.country
  for each row execute function register.refuse_code_change();
create or replace trigger refuse_id_change before update of id on register.country
  for each row when (old.id <> new.id) execute function register.refuse_code_change();
create or replace trigger refuse_truncate before truncate on register.country
  for each statement execute function register.refuse_truncate();
create or replace trigger refuse_delete before delete on register.status
  for each row execute function register.refuse_code_change();
create or replace trigger refuse_id_change before update of id on register.status
  for each row when (old.id <> new.id) execute function register.refuse_code_change();
create or replace trigger refuse_truncate before truncate on register.status
  for each statement execute function register.refuse_truncate();
create or replace trigger refuse_delete before delete on register.unit_size
  for each row execute function register.refuse_code_change();
create or replace trigger refuse_id_change before update of id on register.unit_size
  for each row when (old.id <> new.id) execute function register.refuse_code_change();
create or replace trigger refuse_truncate before truncate on register.unit_size
  for each statement execute function register.refuse_truncate();
create or replace trigger refuse_delete before delete on register.data_source
  for each row execute function register.refuse_code_change();
create or replace trigger refuse_id_change before update of id on register.data_source
  for each row when (old.id <> new.id) execute function register.refuse_code_change();
create or replace trigger refuse_truncate before truncate on register.data_source
  for each statement execute function register.refuse_truncate();
create or replace trigger refuse_delete before delete on register.foreign_participation
  for each row execute function register.refuse_code_change();
create or replace trigger refuse_id_change before update of id on register.foreign_participation
  for each row when (old.id <> new.id) execute function register.refuse_code_change();
create or replace trigger refuse_truncate before truncate on register.foreign_participation
  for each statement execute function register.refuse_truncate();
create or replace trigger refuse_delete before delete on register.external_ident_type
  for each row execute function register.refuse_code_change();
create or replace trigger refuse_id_change before update of id on register.external_ident_type
  for each row when (old.id <> new.id) execute function register.refuse_code_change();
create or replace trigger refuse_truncate before truncate on register.external_ident_type
  for each statement execute function register.refuse_truncate();
create or replace trigger refuse_delete before delete on register.stat_definition
  for each row execute function register.refuse_code_change();
create or replace trigger refuse_id_change before update of id on register.stat_definition
  for each row when (old.id <> new.id) execute function register.refuse_code_change();
create or replace trigger refuse_truncate before truncate on register.stat_definition
  for each statement execute function register.refuse_truncate();
create or replace trigger refuse_delete before delete on register.legal_rel_type
  for each row execute function register.refuse_code_change();
create or replace trigger refuse_id_change before update of id on register.legal_rel_type
  for each row when (old.id <> new.id) execute function register.refuse_code_change();
create or replace trigger refuse_truncate before truncate on register.legal_rel_type
  for each statement execute function register.refuse_truncate();
create or replace trigger refuse_delete before delete on register.power_group_type
  for each row execute function register.refuse_code_change();
create or replace trigger refuse_id_change before update of id on register.power_group_type
  for each row when (old.id <> new.id) execute function register.refuse_code_change();
create or replace trigger refuse_truncate before truncate on register.power_group_type
  for each statement execute function register.refuse_truncate();
create or replace trigger refuse_delete before delete on register.person_role
  for each row execute function register.refuse_code_change();
create or replace trigger refuse_id_change before update of id on register.person_role
  for each row when (old.id <> new.id) execute function register.refuse_code_change();
create or replace trigger refuse_truncate before truncate on register.person_role
  for each statement execute function register.refuse_truncate();
create or replace trigger refuse_delete before delete on register.image
  for each row execute function register.refuse_code_change();
create or replace trigger refuse_id_change before update of id on register.image
  for each row when (old.id <> new.id) execute function register.refuse_code_change();
create or replace trigger refuse_truncate before truncate on register.image
  for each statement execute function register.refuse_truncate();

create or replace trigger refuse_type_change before update of type on register.stat_definition
  for each row when (old.type <> new.type) execute function register.refuse_code_change('type');
create or replace trigger refuse_influence_change before update of primary_influencer_only on register.legal_rel_type
  for each row when (old.primary_influencer_only <> new.primary_influencer_only)
  execute function register.refuse_code_change('primary_influencer_only');
