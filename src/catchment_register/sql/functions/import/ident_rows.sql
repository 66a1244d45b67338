-- ident_rows: dated_rows with how many identifiers each row has, of its unit and of its legal unit, and the place of
-- the first one. Inlined, therefore without a SET clause.
create or replace function register.ident_rows(p_job_id integer)
  returns table (
    row_no integer, ident text[], owner_ident text[], valid_from date, valid_until date, read_problem jsonb,
    period_problem jsonb, idents integer, lead integer, owners integer, owner_lead integer
  )
  language sql stable
as $$
  select r.row_no, r.ident, r.owner_ident, r.valid_from, r.valid_until, r.read_problem, r.period_problem,
         num_nonnulls(variadic r.ident),
         case when r.ident[1] is not null then 1
              when num_nonnulls(variadic r.ident) > 0
              then (select min(i.n)::integer from unnest(r.ident) with ordinality as i (value, n)
                     where i.value is not null) end,
         num_nonnulls(variadic r.owner_ident),
         case when r.owner_ident[1] is not null then 1
              when num_nonnulls(variadic r.owner_ident) > 0
              then (select min(i.n)::integer from unnest(r.owner_ident) with ordinality as i (value, n)
                     where i.value is not null) end
    from register.dated_rows(p_job_id) as r;
$$;
