-- explain_imports: files that are being imported: their rows are not committed yet. See explain.
create or replace function register.explain_imports()
  returns setof worker.condition
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select 'import', false, jsonb_build_object('job', j.id, 'slug', j.slug, 'state', j.state),
         format('Import job %s (%s) %s; its rows are not in the register yet.', j.id, j.slug,
                case j.state when 'waiting_for_review' then 'waits for a review'
                  else 'is in state ' || replace(j.state, '_', ' ') end),
         case j.state when 'waiting_for_review'
           then format('catchment register import-job approve %s  # resume it', j.id) end
    from register.import_job as j
   where j.state in ('upload_completed', 'preparing_data', 'analysing_data', 'waiting_for_review', 'approved',
                     'processing_data')
   order by j.id
   limit 3;
$$;
