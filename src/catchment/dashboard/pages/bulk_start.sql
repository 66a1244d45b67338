-- bulk_start: the task of a new bulk.
select worker.start_bulk(%(verb)s::text, %(filter)s::jsonb, %(reason)s::text, %(actor)s::text, %(role)s::text,
                         %(seen_at)s::timestamptz)
