-- plan_periods: payloads of the children that stage the periods of a report, each with so many periods that a child weighs cells
-- against periods about half a million times: one period in a large register, all of them after a small change.
create or replace function register.plan_periods(
  p_round_id  bigint,
  p_report    text
)
  returns jsonb[]
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  c_weighings constant integer := 500000;
  v_cells     bigint;
begin
  perform register.require_mark(p_round_id);
  select count(*) into v_cells
    from register.report_cell as c
   where c.round_id = p_round_id
     and c.report = p_report
     and c.partition_seq >= 0;
  return (
    select coalesce(array_agg(jsonb_build_object('round_id', p_round_id, 'batch_seq', b.batch_seq, 'periods', b.names)
                              order by b.batch_seq), '{}')
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
  );
end;
$$;
