-- What the register does now: the day, both phases and their steps, and what the open round is about.
select register.today() as today, register.is_importing() as is_importing,
       (select max(r.id) from register.round as r where r.state = 'open') as round_id,
       (select jsonb_agg(jsonb_build_object(
                 'phase', p.phase, 'is_active', p.active, 'is_pending', p.pending, 'step', p.step, 'done', p.completed,
                 'total', p.total,
                 'steps', (select jsonb_agg(w.step order by w.seq) from register.pipeline_step_weight as w
                            where w.phase = p.phase))
               order by p.phase desc)
          from register.pipeline_progress() as p) as phases;
