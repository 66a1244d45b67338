-- owes_all: whether a derivation of all units broke and none has succeeded since.
create or replace function register.owes_all()
  returns boolean
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select exists (select from register.round as r
                  where r.kind = 'all'
                    and r.state = 'broken'
                    and r.id > coalesce((select max(d.id) from register.round as d where d.kind = 'all'
                                            and d.state = 'done'), 0));
$$;
