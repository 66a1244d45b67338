-- is_importing: whether an uploaded file is on its way into the register, or waits for a review.
create or replace function register.is_importing()
  returns boolean
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select exists (select from register.import_job as j
                  where j.state in ('upload_completed', 'preparing_data', 'analysing_data', 'waiting_for_review',
                                    'approved', 'processing_data'));
$$;
