-- plan_periods: payloads of the children that stage the periods of a report, each sized so that a child weighs cells
-- against periods about half a million times: one period in a large register, all of them after a small change. Where a
-- period alone has more facets than fit in memory, several children share it, by facet. Rows of one unit are brought
-- together by each of the children, so these are counted only when they are changes: what is published is merged with
-- them, which takes longer.
create or replace function register.plan_periods(
  p_round_id  bigint,
  p_report    text
)
  returns jsonb[]
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  c_weighings   constant integer := 500000;
  c_facets      constant integer := 250000;
  c_changes     constant integer := 25000;
  v_is_rebuild  boolean;
  v_cells       bigint;
  v_shares      integer;
begin
  perform register.require_mark(p_round_id);
  select s.is_rebuild into strict v_is_rebuild from register.report_scope(p_round_id, p_report) as s;
  select count(*), case when p_report <> 'facet' then 1
                        when v_is_rebuild
                          then greatest(1, ceil(count(*) filter (where c.unit_id is null) / c_facets::numeric))
                        else greatest(1, ceil(count(*) / c_changes::numeric)) end
    into v_cells, v_shares
    from register.report_cell as c
   where c.round_id = p_round_id
     and c.report = p_report
     and c.partition_seq >= 0;
  return (
    select coalesce(array_agg(jsonb_build_object('round_id', p_round_id,
                                                 'batch_seq', (b.batch_seq - 1) * v_shares + s.share + 1,
                                                 'periods', b.names)
                              || case when v_shares > 1 then jsonb_build_object('share', s.share, 'shares', v_shares)
                                      else '{}' end
                              order by b.batch_seq, s.share), '{}')
      from (
        select n.batch_seq, jsonb_agg(n.name order by n.first_day, n.name) as names
          from (
            select p.first_day, p.year || coalesce(to_char(p.month, '"-"FM00'), '') as name,
                   1 + (row_number() over (order by p.first_day, p.resolution) - 1)
                     / greatest(1, c_weighings / greatest(1, v_cells)) as batch_seq
              from register.periods_to_refresh(p_round_id, p_report) as p
          ) as n
         group by n.batch_seq
      ) as b
     cross join generate_series(0, v_shares - 1) as s (share)
  );
end;
$$;
