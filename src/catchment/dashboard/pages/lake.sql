-- lake: has this database a lake, as far as its installation got?
select exists (select
                 from pg_catalog.pg_class as c
                 join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
                where n.nspname = 'lake' and c.relname = 'installed') as is_installed
