-- The settings for people: codes instead of ids.
select c.iso_2 as country, s.code as activity_standard, v.code as region_version, t.today::text as today,
       t.batch_enterprises, t.import_batch_rows, t.partition_count_target, t.rebuild_share,
       t.truncates_text
  from register.settings as t
  left join register.country as c on c.id = t.country_id
  left join register.activity_category_standard as s on s.id = t.activity_category_standard_id
  left join register.region_version as v on v.id = t.region_version_id
