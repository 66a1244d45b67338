from collections import Counter
import tests.engine.test_state_machine as m
from tests.engine.test_state_machine import conns
C = Counter()
def test_stats(conns, monkeypatch):
    orig_ask = m.Histories.ask
    def ask(self, conn, sql, *a, **k):
        r = orig_ask(self, conn, sql, *a, **k)
        C[(sql[:32], "refused" if self.must_not_change else r if isinstance(r, str) else "ok")] += 1
        return r
    monkeypatch.setattr(m.Histories, "ask", ask)
    orig = m.Histories.teardown
    def teardown(self):
        for t in self.seen.values(): C[("state", t.state, t.waits_for)] += 1
        orig(self)
    monkeypatch.setattr(m.Histories, "teardown", teardown)
    oh = m.Histories.rules_hold.function if hasattr(m.Histories.rules_hold,'function') else m.Histories.rules_hold
    m.run(conns, examples=60, steps=40)
    for k, v in sorted(C.items(), key=str): print(v, k)
