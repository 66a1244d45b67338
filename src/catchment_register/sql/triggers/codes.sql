-- Code lists are added to and corrected, never deleted from: so naming a code needs no lock on it. The same goes for
-- images.
do $$
declare
  v_table text;
begin
  foreach v_table in array
    '{activity_category_standard,activity_category,region_version,region,sector,tag,legal_form,country,status,'
    'unit_size,data_source,foreign_participation,external_ident_type,stat_definition,legal_rel_type,'
    'power_group_type,person_role,image}'::text[]
  loop
    execute format('create or replace trigger refuse_delete before delete on register.%1$I'
                   ' for each row execute function register.refuse_code_change();'
                   ' create or replace trigger refuse_id_change before update of id on register.%1$I'
                   ' for each row when (old.id <> new.id) execute function register.refuse_code_change();'
                   ' create or replace trigger refuse_truncate before truncate on register.%1$I'
                   ' for each statement execute function register.refuse_truncate()', v_table);
  end loop;
end;
$$;

create or replace trigger refuse_type_change before update of type on register.stat_definition
  for each row when (old.type <> new.type) execute function register.refuse_code_change('type');
create or replace trigger refuse_influence_change before update of primary_influencer_only on register.legal_rel_type
  for each row when (old.primary_influencer_only <> new.primary_influencer_only)
  execute function register.refuse_code_change('primary_influencer_only');

-- Their codes are columns of import files.
create or replace trigger guard_column after insert or update of code, enabled on register.stat_definition
  for each row when (new.enabled) execute function register.guard_column();
create or replace trigger guard_column after insert or update of code, enabled on register.external_ident_type
  for each row when (new.enabled) execute function register.guard_column();
