-- import_row: the rows of jobs as they were understood, with the state of their batch, and how the file names their
-- unit.
create or replace view register.import_row as
select l.job_id, l.row_no, l.batch_seq,
       case when d.has_error then 'error'
            when b.processed_at is not null then 'processed'
            when b.analysed_at is not null then 'analysed'
            else 'pending' end as state,
       d.operation, d.errors, d.warnings, coalesce(d.ident, u.ident) as ident, u.owner_ident, u.other_ident,
       coalesce(d.name, u.name) as name, l.valid_from, l.valid_until
  from (select d.job_id, d.row_no, d.batch_seq, d.valid_from, d.valid_until from register.import_data as d
        union all
        select l.job_id, l.row_no, l.batch_seq, l.valid_from, l.valid_until from register.import_link as l
         where not exists (select from register.import_data as d
                            where d.job_id = l.job_id and d.batch_seq = l.batch_seq and d.row_no = l.row_no)) as l
  join register.import_batch as b on b.job_id = l.job_id and b.batch_seq = l.batch_seq
  left join register.import_data as d on d.job_id = l.job_id and d.batch_seq = l.batch_seq and d.row_no = l.row_no
  left join register.import_upload as u on u.job_id = l.job_id and u.row_no = l.row_no;
comment on view register.import_row is 'Rows of import jobs, their state, and what is wrong with them.';
