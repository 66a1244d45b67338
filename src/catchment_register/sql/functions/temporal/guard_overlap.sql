-- guard_overlap: refuse two rows of one key that are valid on the same day. Each argument is a key: its columns joined
-- by commas, first that of the owner. For each key of a changed row, all stored rows are checked.
--
--   locks   slices of changed units that have several, by id and start; details are serialised by their parents' rows,
--           which guard_parent locks
--   raises  RG001 two rows of one key are valid on the same day; RG007 the transaction is not read committed
--   plan    no_jit, indexed, hashed
create or replace function register.guard_overlap()
  returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_key    text;
  v_owner  text;
  v_other  text;
  v_owners integer[];
  v_wrong  record;
begin
  perform register.require_read_committed();
  foreach v_key in array tg_argv loop
    v_owner := split_part(v_key, ',', 1);
    -- The key of a detail begins with both possible owners: naming the one that is null leads to its index.
    v_other := case v_owner when 'legal_unit_id' then 'o.establishment_id is null and'
                            when 'establishment_id' then 'o.legal_unit_id is null and' end;
    execute format(
      'select array_agg(distinct s.%2$I)
         from (select o.%2$I from register.%1$I as o
                where %3$s o.%2$I = any (array(select c.%2$I from changed as c where c.%2$I is not null))
                group by %4$s
               having count(*) > 1) as s', tg_table_name, v_owner, v_other, v_key) into v_owners;
    continue when v_owners is null;

    if v_key = 'id' then
      execute format('select from register.%I as o where o.id = any ($1) order by o.id, o.valid_from for no key update',
                     tg_table_name) using v_owners;
    end if;
    execute format(
      'select s.*
         from (select concat_ws('', '', %4$s) as named, o.valid_from, o.valid_until,
                      lag(o.valid_from) over w as before_from, lag(o.valid_until) over w as before_until
                 from register.%1$I as o
                where %3$s o.%2$I = any ($1)
               window w as (partition by %4$s order by o.valid_from)) as s
        where s.before_until > s.valid_from
        limit 1', tg_table_name, v_owner, v_other, v_key) into v_wrong using v_owners;
    if v_wrong.named is not null then
      raise exception using
        errcode = 'RG001',
        message = format('%s (%s) = (%s) from %s until %s overlaps the one from %s until %s', tg_table_name, v_key,
                         v_wrong.named, v_wrong.before_from, v_wrong.before_until, v_wrong.valid_from,
                         v_wrong.valid_until),
        hint = 'Shorten or delete the other row in the same statement, or edit only the part that changes.';
    end if;
  end loop;
  return null;
end;
$$;
