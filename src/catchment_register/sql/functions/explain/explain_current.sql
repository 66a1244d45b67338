-- explain_current: the figure is up to date, and since when. See explain.
create or replace function register.explain_current(
  p_of   register.subject,
  p_now  timestamptz
)
  returns setof worker.condition
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select 'current', false,
         jsonb_strip_nulls(jsonb_build_object('round', r.id, 'at', r.at, 'today', register.today())),
         format('%s is up to date with all committed changes%s.',
                case p_of.kind when 'register' then 'The register' else p_of.name end,
                case when r.id is not null
                  then format('; round %s was published last, at %s', r.id, worker.said_when(r.at, p_now))
                  when not exists (select from register.round) then '; nothing has been derived yet' else '' end),
         null
    from (select) as one
    left join lateral (
      select x.id, case when p_of.kind in ('unit', 'units') then x.flushed_at else x.ended_at end as at
        from register.round as x
       where case when p_of.kind in ('unit', 'units') then x.flushed_at is not null else x.state = 'done' end
       order by x.id desc
       limit 1
    ) as r on true;
$$;
