-- lock_round: lock the round of a refresh. Every function that lets a round continue after a change to one of its
-- refreshes takes this lock first: advance holds the round while it waits for refresh rows. Here and elsewhere, the
-- lock leaves foreign keys alone: the commit of a replacement checks them, and waits for nobody's round.
--
--   locks   the row of the round
create or replace function lake.lock_round(p_refresh_id bigint)
  returns void
  language sql set search_path = pg_catalog, pg_temp
as $$
  select o.id
    from lake.round as o
   where o.id = (select r.round_id from lake.refresh as r where r.id = p_refresh_id)
     for no key update;
$$;
