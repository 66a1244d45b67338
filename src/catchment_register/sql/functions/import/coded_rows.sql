-- coded_rows: the codes of some rows of a job as ids, null where a code is missing or unknown: rows from p_first to
-- p_last, of these the ones in p_rows if that is given. Apart from the rest of the row, which is wide: each join would
-- carry all of it. Inlined, therefore without a SET clause.
create or replace function register.coded_rows(
  p_job_id  integer,
  p_first   integer,
  p_last    integer,
  p_rows    integer[]
)
  returns table (
    row_no integer, sector_id integer, legal_form_id integer, status_id integer, unit_size_id integer,
    data_source_id integer, primary_id integer, secondary_id integer, region_id integer, postal_region_id integer,
    country_id integer, postal_country_id integer, tag_id integer
  )
  language sql stable
as $$
  -- Once for all lists: each use of the view is planned again.
  with code as materialized (
    select k.kind, k.key, k.id from register.code_key as k where k.kind not in ('rel_type', 'stat', 'ident_type')
  )
  select u.row_no, sec.id, frm.id, sta.id, siz.id, src.id, act.id, sac.id, reg.id, prg.id, cou.id, pco.id, tag.id
    from register.import_upload as u
    left join code as sec on sec.kind = 'sector' and sec.key = u.sector_code
    left join code as frm on frm.kind = 'legal_form' and frm.key = u.legal_form_code
    left join code as sta on sta.kind = 'status' and sta.key = u.status_code
    left join code as siz on siz.kind = 'unit_size' and siz.key = u.unit_size_code
    left join code as src on src.kind = 'data_source' and src.key = u.data_source_code
    left join code as act on act.kind = 'activity' and act.key = register.activity_key(u.primary_activity_category_code)
    left join code as sac
      on sac.kind = 'activity' and sac.key = register.activity_key(u.secondary_activity_category_code)
    left join code as reg on reg.kind = 'region' and reg.key = u.physical_region_code
    left join code as prg on prg.kind = 'region' and prg.key = u.postal_region_code
    left join code as cou on cou.kind = 'country' and cou.key = u.physical_country_iso_2
    left join code as pco on pco.kind = 'country' and pco.key = u.postal_country_iso_2
    left join code as tag on tag.kind = 'tag' and tag.key = u.tag_path
   where u.job_id = p_job_id
     and u.row_no between p_first and p_last
     and (p_rows is null or u.row_no = any (p_rows));
$$;
