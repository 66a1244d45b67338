-- address_times: when known units of a batch have a physical and a postal address: there an update may omit the
-- country. Only asked for where no home country stands in (p_is_asked). Inlined, therefore without a SET clause.
create or replace function register.address_times(
  p_job_id     integer,
  p_batch_seq  integer,
  p_mode       text,
  p_is_asked   boolean
)
  returns table (unit_id integer, physical datemultirange, postal datemultirange)
  language sql stable
as $$
  with address as materialized (
    select o.legal_unit_id as unit_id, o.type, daterange(o.valid_from, o.valid_until) as time
      from register.location as o
     where p_is_asked and p_mode = 'legal_unit'
       and o.establishment_id is null
       and o.legal_unit_id = any (array(select k.unit_id from register.import_link as k
                                         where k.job_id = p_job_id and k.batch_seq = p_batch_seq and not k.is_new))
    union all
    select o.establishment_id, o.type, daterange(o.valid_from, o.valid_until)
      from register.location as o
     where p_is_asked and p_mode <> 'legal_unit'
       and o.legal_unit_id is null
       and o.establishment_id = any (array(select k.unit_id from register.import_link as k
                                            where k.job_id = p_job_id and k.batch_seq = p_batch_seq and not k.is_new))
  )
  select a.unit_id, range_agg(a.time) filter (where a.type = 'physical'),
         range_agg(a.time) filter (where a.type = 'postal')
    from address as a
   group by a.unit_id;
$$;
