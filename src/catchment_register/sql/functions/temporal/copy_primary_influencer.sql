-- copy_primary_influencer: a relationship takes primary_influencer_only from its type, which never changes it.
create or replace function register.copy_primary_influencer()
  returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  -- An unknown type is named by guard_codes.
  new.primary_influencer_only :=
    coalesce((select t.primary_influencer_only from register.legal_rel_type as t where t.id = new.type_id), false);
  return new;
end;
$$;
