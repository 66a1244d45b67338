-- Rules between units, and between details and the units they belong to. A guard reads the changed rows from a
-- transition table that is always called changed: new rows of an INSERT or UPDATE, or old rows of an UPDATE or DELETE.
-- Triggers of one event run in the order of their names: a guard that looks at what others committed comes after the
-- one that locks.
do $$
declare
  v_statement text;
begin
  for v_statement in
    with guard (table_name, name, arguments) as (
      select g.table_name, g.name, g.arguments::text[]
        from (values
          ('legal_unit', '1_parent', '{enterprise_id,enterprise}'),
          ('establishment', '1_parent', '{legal_unit_id,legal_unit,enterprise_id,enterprise}'),
          ('activity', '1_parent', '{legal_unit_id,legal_unit,establishment_id,establishment}'),
          ('location', '1_parent', '{legal_unit_id,legal_unit,establishment_id,establishment}'),
          ('contact', '1_parent', '{legal_unit_id,legal_unit,establishment_id,establishment}'),
          ('stat_for_unit', '1_parent', '{legal_unit_id,legal_unit,establishment_id,establishment}'),
          ('person_for_unit', '1_parent', '{legal_unit_id,legal_unit,establishment_id,establishment,person_id,person}'),
          ('legal_relationship', '1_parent', '{influencing_id,legal_unit,influenced_id,legal_unit}'),
          ('power_root', '1_parent', '{power_group_id,power_group}'),
          ('external_ident', '1_owner',
           '{legal_unit_id,legal_unit,establishment_id,establishment,enterprise_id,enterprise,'
           'power_group_id,power_group,person_id,person}'),
          ('tag_for_unit', '1_owner',
           '{legal_unit_id,legal_unit,establishment_id,establishment,enterprise_id,enterprise,'
           'power_group_id,power_group}'),
          ('unit_notes', '1_owner',
           '{legal_unit_id,legal_unit,establishment_id,establishment,enterprise_id,enterprise,'
           'power_group_id,power_group}'),
          ('legal_unit', '3_primary', '{primary_for_enterprise,enterprise_id}'),
          ('establishment', '3_primary', '{primary_for_legal_unit,legal_unit_id,primary_for_enterprise,enterprise_id}'),
          ('legal_relationship', '3_primary', '{primary_influencer_only,influenced_id}'),
          ('legal_unit', '4_codes',
           '{sector_id,sector,status_id,status,legal_form_id,legal_form,unit_size_id,unit_size,'
           'data_source_id,data_source,foreign_participation_id,foreign_participation,image_id,image}'),
          ('establishment', '4_codes',
           '{sector_id,sector,status_id,status,unit_size_id,unit_size,data_source_id,data_source,'
           'foreign_participation_id,foreign_participation,image_id,image}'),
          ('activity', '4_codes', '{category_id,activity_category,data_source_id,data_source}'),
          ('location', '4_codes', '{region_id,region,country_id,country,data_source_id,data_source}'),
          ('contact', '4_codes', '{data_source_id,data_source}'),
          ('stat_for_unit', '4_codes', '{stat_definition_id,stat_definition,data_source_id,data_source}'),
          ('person_for_unit', '4_codes', '{person_role_id,person_role,data_source_id,data_source}'),
          ('legal_relationship', '4_codes', '{type_id,legal_rel_type,data_source_id,data_source}'),
          ('external_ident', '4_codes', '{type_id,external_ident_type}'),
          ('tag_for_unit', '4_codes', '{tag_id,tag}'),
          ('power_group', '4_codes', '{type_id,power_group_type}'),
          ('power_root', '4_owner', '{derived_root_legal_unit_id,legal_unit,custom_root_legal_unit_id,legal_unit}'),
          ('stat_for_unit', '4_statistic', '{}'),
          ('location', '5_region', '{}'),
          ('external_ident', '5_ident', '{}'),
          ('power_root', '5_root', '{}'),
          ('legal_unit', '5_children',
           '{establishment,legal_unit_id,activity,legal_unit_id,location,legal_unit_id,'
           'contact,legal_unit_id,stat_for_unit,legal_unit_id,person_for_unit,legal_unit_id,'
           'external_ident,legal_unit_id,tag_for_unit,legal_unit_id,unit_notes,legal_unit_id,'
           'legal_relationship,influencing_id,legal_relationship,influenced_id}'),
          ('establishment', '5_children',
           '{activity,establishment_id,location,establishment_id,contact,establishment_id,'
           'stat_for_unit,establishment_id,person_for_unit,establishment_id,'
           'external_ident,establishment_id,tag_for_unit,establishment_id,'
           'unit_notes,establishment_id}'))
               as g (table_name, name, arguments)
      union all
      -- Rows of one key: one of the owner columns with the key columns.
      select t.table_name, '2_overlap', array(select array_to_string(o.name || t.key_columns, ',')
                                                from unnest(t.owner_columns) with ordinality as o (name, n)
                                               order by o.n)
        from register.temporal_table as t
    )
    select format('create or replace trigger guard_%s_%s after %s on register.%I referencing %s table as changed'
                  ' for each statement execute function register.guard_%s(%s)',
                  g.name, e.event, e.event, g.table_name, e.side, substr(g.name, 3),
                  (select string_agg(quote_literal(a.value), ', ' order by a.n)
                     from unnest(g.arguments) with ordinality as a (value, n)))
      from guard as g
      join (values ('insert', 'new', false), ('update', 'new', false), ('update', 'old', true), ('delete', 'old', true))
           as e (event, side, is_of_children) on e.is_of_children = (g.name = '5_children')
    union all
    select format('create or replace trigger refuse_delete_in_use after delete on register.%I referencing old table as '
                  'changed for each statement execute function register.refuse_delete_in_use(%s);'
                  ' create or replace trigger refuse_id_change before update of id on register.%1$I'
                  ' for each row when (old.id <> new.id) execute function register.refuse_code_change()',
                  u.table_name, u.uses)
      from (values
        ('enterprise', $a$'legal_unit', 'enterprise_id', 'establishment', 'enterprise_id', 'external_ident',
         'enterprise_id',
                       'tag_for_unit', 'enterprise_id', 'unit_notes', 'enterprise_id'$a$),
        ('power_group', $a$'legal_relationship', 'derived_power_group_id', 'power_root', 'power_group_id',
         'external_ident',
                        'power_group_id', 'tag_for_unit', 'power_group_id', 'unit_notes', 'power_group_id'$a$),
        ('person', $a$'person_for_unit', 'person_id', 'external_ident', 'person_id'$a$)) as u (table_name, uses)
    union all
    select format('create or replace trigger refuse_truncate before truncate on register.%I'
                  ' for each statement execute function register.refuse_truncate()', t.table_name)
      from (select t.table_name from register.temporal_table as t
            union all
            values ('enterprise'), ('power_group'), ('external_ident'), ('tag_for_unit')) as t
  loop
    execute v_statement;
  end loop;
end;
$$;

create or replace trigger copy_primary_influencer
  before insert or update of type_id, primary_influencer_only on register.legal_relationship
  for each row execute function register.copy_primary_influencer();

create or replace trigger give_way before insert on register.power_root
  for each row when (new.custom_root_legal_unit_id is not null) execute function register.give_way();
