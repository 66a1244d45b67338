-- pick_serial: the next top-level task of a serial queue, if its lane is free. The first in order of either handler
-- kind is the next one; if it belongs to the other kind, nothing is taken and a notice says so: it is never overtaken,
-- unless an enqueue is merging into it right now.
--
--   locks   the queue's lane row if it is free (the first time: the queue's own row), then that ready row if it is free
create or replace function worker.pick_serial(
  p_queue_id      integer,
  p_kind          "char",
  p_max_priority  integer
)
  returns tid[]
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_lane    worker.lane;
  v_next    record;
  v_rows    tid[];
  v_merging bigint[] := '{}';
begin
  select l.* into v_lane from worker.lane as l where l.queue_id = p_queue_id and l.lane = '' for update skip locked;
  if not found then
    if exists (select from worker.lane as l where l.queue_id = p_queue_id and l.lane = '') then
      return '{}';
    end if;
    -- The first claim ever makes the row. Another one that does so in an open transaction is not waited for.
    perform q.queue_id from worker.queue_registry as q where q.queue_id = p_queue_id for no key update skip locked;
    if not found then
      return '{}';
    end if;
    insert into worker.lane (queue_id, lane) values (p_queue_id, '') on conflict do nothing;
    select l.* into v_lane from worker.lane as l where l.queue_id = p_queue_id and l.lane = '' for update skip locked;
  end if;

  loop
    if v_lane.head_id is not null then
      -- Held: only the head itself may continue, when its retry is due or its worker died.
      select r.ctid as row_id, r.kind, r.id, r.band into v_next
        from worker.ready as r
       where r.id = v_lane.head_id
         and r.tier = 1;
    else
      select h.* into v_next
        from unnest(array['s', 'p']::"char"[]) as k (kind)
       cross join lateral (
         select r.ctid as row_id, r.kind, r.id, r.band, r.rank, r.place
           from worker.ready as r
          where r.queue_id = p_queue_id
            and r.kind = k.kind
            and r.tier = 1
            and r.id <> all (v_merging)
          order by r.band, r.rank, r.place, r.id
          limit 1
       ) as h
       order by h.band, h.rank, h.place, h.id
       limit 1;
    end if;

    if not found or v_next.band > p_max_priority then
      return '{}';
    elsif v_next.kind <> p_kind then
      raise notice 'task % is next on its queue and has a % handler: left to a worker that has it', v_next.id,
                   case v_next.kind when 'p' then 'Python' else 'SQL' end;
      return '{}';
    end if;
    v_rows := array(select r.ctid from worker.ready as r where r.ctid = v_next.row_id and r.id = v_next.id
                       for update skip locked);
    -- An enqueue that stays open after merging into the first task does not hold up the others.
    exit when v_rows <> '{}'
              or v_lane.head_id is not null
              or not exists (select from worker.task as t where t.id = v_next.id and t.dedup_key is not null);
    v_merging := v_merging || v_next.id;
  end loop;
  return v_rows;
end;
$$;
