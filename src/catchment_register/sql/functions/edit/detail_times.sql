-- detail_times: when, within a period, a unit has a detail that keeps something although some columns are cleared.
-- Where nothing is left of it, it goes.
create or replace function register.detail_times(
  p_table        text,
  p_owner        text,
  p_unit_id      integer,
  p_type         text,
  p_clears       text[],
  p_valid_from   date,
  p_valid_until  date
)
  returns datemultirange
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_times datemultirange := '{}';
  v_slice record;
begin
  for v_slice in
    select s.row, greatest((s.row ->> 'valid_from')::date, p_valid_from) as valid_from,
           least((s.row ->> 'valid_until')::date, p_valid_until) as valid_until
      from (select to_jsonb(l) as row from register.location as l
             where p_table = 'location' and l.type = p_type
               and (p_owner = 'legal_unit_id' and l.legal_unit_id = p_unit_id
                    or p_owner = 'establishment_id' and l.legal_unit_id is null and l.establishment_id = p_unit_id)
            union all
            select to_jsonb(c) from register.contact as c
             where p_table = 'contact'
               and (p_owner = 'legal_unit_id' and c.legal_unit_id = p_unit_id
                    or p_owner = 'establishment_id' and c.legal_unit_id is null
                   and c.establishment_id = p_unit_id)) as s
  loop
    continue when v_slice.valid_from >= v_slice.valid_until;
    if exists (select from jsonb_each(v_slice.row - p_clears) as v
                 join register.temporal_table as t on t.table_name = p_table and v.key = any (t.data_columns)
                where v.value <> 'null' and v.key not in ('data_source_id', 'country_id')) then
      v_times := v_times + datemultirange(daterange(v_slice.valid_from, v_slice.valid_until));
    else
      perform register.cut_slices(p_table, p_owner, array[p_unit_id], v_slice.valid_from, v_slice.valid_until,
                                  case when p_type is not null then jsonb_build_object('type', p_type) else '{}' end);
    end if;
  end loop;
  return v_times;
end;
$$;
