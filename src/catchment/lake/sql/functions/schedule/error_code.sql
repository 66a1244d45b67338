-- error_code: the error code of a refresh, derived from the error of its task, for tasks that could not report one.
create or replace function lake.error_code(p_error jsonb)
  returns text
  language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select coalesce(p_error ->> 'code',
                  case p_error ->> 'kind'
                    when 'interrupted'     then 'INTERRUPTED'
                    when 'LakeInterrupted' then 'INTERRUPTED'
                    when 'timeout'         then 'TIMEOUT'
                    when 'LakeOutOfMemory' then 'MEMORY'
                    when 'LakeDiskFull'    then 'DISK_FULL'
                    when 'LakeUnavailable' then 'STORAGE'
                    when 'CommitConflict'  then 'CONFLICT'
                    when 'PublishVetoed'   then 'FENCED'
                    when 'ClaimLost'       then 'FENCED'
                    else 'INTERNAL'
                  end)
$$;
