-- unit_cover: when those are there that rows of a batch must lie within: the legal units of establishments, or the
-- units that statistics are about. times: of units with several slices, all of them put together; most have one, and
-- that costs more. Inlined, therefore without a SET clause.
create or replace function register.unit_cover(
  p_job_id     integer,
  p_batch_seq  integer,
  p_mode       text
)
  returns table (kind text, id integer, first date, until date, times datemultirange)
  language sql stable
as $$
  with slice as materialized (
    select l.id, 'legal_unit' as kind, l.valid_from, l.valid_until
      from register.legal_unit as l
     where p_mode in ('establishment_formal', 'generic_unit')
       and l.id = any (array(select k.owner_id from register.import_link as k
                              where k.job_id = p_job_id and k.batch_seq = p_batch_seq))
    union all
    select e.id, 'establishment', e.valid_from, e.valid_until
      from register.establishment as e
     where p_mode = 'generic_unit'
       and e.id = any (array(select k.unit_id from register.import_link as k
                              where k.job_id = p_job_id and k.batch_seq = p_batch_seq))
  ),
  cover as materialized (
    select s.kind, s.id, min(s.valid_from) as first, max(s.valid_until) as until, count(*) > 1 as is_cut
      from slice as s
     group by s.kind, s.id
  ),
  patchwork as materialized (
    select s.kind, s.id, range_agg(daterange(s.valid_from, s.valid_until)) as times
      from slice as s
      join cover as c on c.kind = s.kind and c.id = s.id and c.is_cut
     group by s.kind, s.id
  )
  select c.kind, c.id, c.first, c.until, p.times
    from cover as c
    left join patchwork as p on p.kind = c.kind and p.id = c.id;
$$;
