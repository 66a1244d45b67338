-- drop_doubles: keep, for each unit, the rows of one batch. A unit that moved while batches ran may have been derived
-- by two of them. Its move is in the log and comes with the next round, so it does not matter which one is kept. Where
-- nothing has been logged meanwhile there are none. Rows in a table that is filled do not name their batch, but each
-- batch is a transaction.
--
--   plan    no_jit, memory_256
create or replace function register.drop_doubles(p_round_id bigint)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if not exists (select from register.base_change_log as b where b.round_id is null) then
    return;
  end if;
  delete from register.statistical_unit_staging as s
   using (select d.unit_type, d.unit_id, min(d.batch_seq) as kept
            from register.statistical_unit_staging as d
           where d.round_id = p_round_id
           group by d.unit_type, d.unit_id
          having min(d.batch_seq) <> max(d.batch_seq)) as x
   where s.round_id = p_round_id
     and s.unit_type = x.unit_type
     and s.unit_id = x.unit_id
     and s.batch_seq <> x.kept;
  if register.is_filled_by(p_round_id, 'statistical_unit') then
    delete from register.statistical_unit_row as p
     using (select d.unit_type, d.unit_id, min(d.xmin::text::bigint) as kept
              from register.statistical_unit_row as d
             group by d.unit_type, d.unit_id
            having min(d.xmin::text::bigint) <> max(d.xmin::text::bigint)) as x
     where p.unit_type = x.unit_type
       and p.unit_id = x.unit_id
       and p.xmin::text::bigint <> x.kept;
  end if;
end;
$$;
