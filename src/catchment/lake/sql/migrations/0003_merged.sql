-- Why: merging the files of a table gives updated rows other row ids, in older versions too. A table that is keyed by
-- row ids has to know that it happened since it was computed. Locks: lake.read for a moment.

alter table lake.read add column merged bigint not null default 0;
comment on column lake.read.merged is
  'The newest snapshot that merged files of the source, as far as was known when it was read; 0 without one.';
