"""The page of a task: why it waits, the way it took, what is around it, and its values on demand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest

from catchment.dashboard import asgi_app
from catchment.dashboard.pages import values as values_page
from catchment.dashboard.pages.task_path import Run, Story, path_of
from catchment.dashboard.values import Shown, dump_exactly, pretty, trace_id_of
from catchment.errors import RequestRefused
from tests.fixtures.dashboard import StartDashboard
from tests.fixtures.engine import Engine
from tests.sql.support import Hand

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


def halted_lane(engine: Engine, behind: int = 6) -> tuple[int, list[int]]:
    """A lane that its first task halts, and the tasks behind it."""
    engine.queue("mail", mode="concurrent")
    engine.command("send", "mail")
    first = engine.enqueue("send", lane="customer 17", fail="the address is gone")
    rest = [engine.enqueue("send", lane="customer 17") for _ in range(behind)]
    engine.drain("mail")
    assert engine.state(first) == "failed"
    return first, rest


def test_the_page_says_what_explain_says_with_links_and_buttons(dashboard: StartDashboard, committed: Engine) -> None:
    first, rest = halted_lane(committed)
    task = rest[4]
    site = dashboard()
    answer = site.json(f"/api/tasks/{task}")
    explained = committed.conn.execute(
        "select kind, is_blocking, words, remedy from worker.explain(%s) order by not is_blocking", [task]
    ).fetchall()
    shown = [(one["kind"], one["is_blocking"], one["words"], one["remedy"]) for one in answer["why"]["conditions"]]
    # The words have relative times.
    assert [one[:2] for one in shown] == [one[:2] for one in explained]
    assert [one[3] for one in shown] == [one[3] for one in explained]
    halted = answer["why"]["conditions"][0]
    assert (halted["kind"], halted["tasks"]) == ("halted", [first])
    assert [(act["action"], act["values"]) for act in halted["acts"]] == [
        ("task.retry", {"id": first}),
        ("lane.skip", {"queue": "mail", "lane": "customer 17", "id": first}),
    ]
    place = answer["lane_place"]
    assert (place["head"]["id"], place["ahead"], place["behind"]) == (first, 4, 1)
    assert [one["id"] for one in place["before"]] == rest[1:4]
    assert [one["id"] for one in place["after"]] == rest[5:]
    assert place["halted_at"] is not None
    page = site.get(f"/tasks/{task}").text
    assert f'<a href="/tasks/{first}" data-panel-link>task {first}</a>' in page
    assert f'data-verb="Retry task {first}"' in page
    assert f'data-copy="catchment task retry {first}"' in page
    assert "  #" not in "".join(one["command"] for one in halted["remedies"])
    head = site.json(f"/api/tasks/{first}")
    assert (head["lane_place"]["ahead"], [one["id"] for one in head["lane_place"]["after"]]) == (0, rest[:3])
    # The task that halts the lane has both ways too, and so has the overview.
    assert head["why"]["conditions"][0]["acts"] == halted["acts"]
    page = site.get(f"/tasks/{first}").text
    skip = "catchment lane skip mail &#39;customer 17&#39;"
    assert f'data-verb="Skip task {first}"' in page
    assert f'data-copy="{skip}"' in page
    page = site.get("/").text
    assert f'data-copy="catchment task retry {first}"' in page
    assert f'data-copy="{skip}"' in page


def test_a_path_has_each_attempt_and_its_join(dashboard: StartDashboard, committed: Engine) -> None:
    committed.conn.execute(
        "create procedure probe.join(payload jsonb) language plpgsql as $$ begin raise exception 'no join'; end $$"
    )
    committed.command("joined", join_procedure="probe.join", max_attempts=2, retry_delay="0 s", retry_jitter=0)
    parent = committed.enqueue("joined", spawn=[{"note": "child"}])
    committed.command("flaky", max_attempts=2, retry_delay="0 s", retry_jitter=0)
    flaky = committed.enqueue("flaky", fail="the disk is full")
    for _ in range(4):
        committed.drain()
    site = dashboard()
    answer = site.json(f"/api/tasks/{flaky}")
    assert [step["state"] for step in answer["path"]] == ["pending", "processing", "pending", "processing", "failed"]
    assert [one["message"] for one in answer["attempts"]] == ["the disk is full"] * 2
    assert "probe.act" in answer["attempts"][0]["context"]
    answer = site.json(f"/api/tasks/{parent}")
    assert answer["state"] == "failed"
    assert [one["is_join"] for one in answer["attempts"]] == [True, True]
    assert [step["state"] for step in answer["path"]] == [
        "pending",
        "processing",
        "waiting",
        "processing",
        "waiting",
        "processing",
        "failed",
    ]
    assert answer["children"]["total"] == 1
    page = site.get(f"/tasks/{parent}").text
    assert 'class="machine"' in page
    assert f'href="/scopes/{parent}"' in page


def test_a_path_has_each_end_that_was_retried_by_hand(dashboard: StartDashboard, committed: Engine) -> None:
    committed.conn.execute(
        "create procedure probe.join(payload jsonb) language plpgsql as $$ begin raise exception 'no join'; end $$"
    )
    committed.command("joined", join_procedure="probe.join", max_attempts=3, retry_delay="0 s", retry_jitter=0)
    parent = committed.enqueue("joined", spawn=[{"fail": "no paper"}, {}])
    committed.drain()
    for payload in ('{"fail": "no ink"}', "{}"):
        committed.value("select worker.retry(%s)", parent)
        child = committed.children(parent)[0]
        committed.conn.execute("update worker.task set payload = %s where id = %s", [payload, child])
        committed.drain()
    site = dashboard()
    answer = site.json(f"/api/tasks/{parent}")
    assert [(step["state"], step["words"]) for step in answer["path"]] == [
        ("pending", "made"),
        ("processing", "attempt 1 started"),
        ("waiting", "waits for 2 children"),
        ("failed", "failed through its children"),
        ("waiting", "retried by hand"),
        ("failed", "failed through its children"),
        ("waiting", "retried by hand"),
        ("processing", "its join started"),
        ("waiting", "its join failed with P0001"),
        ("processing", "its join started"),
        ("waiting", "its join failed with P0001"),
        ("processing", "its join started"),
        ("failed", "its join failed with P0001"),
    ]
    assert [one["message"] for one in answer["attempts"] if one["is_scope"]] == [
        "1 of 2 children failed: act: no ink",
        "1 of 2 children failed: act: no paper",
    ]
    assert "by its children, retried by hand" in site.get(f"/tasks/{parent}").text


def test_attempts_are_said_as_task_show_says_them(dashboard: StartDashboard, committed: Engine) -> None:
    committed.command("flaky", max_attempts=2, retry_delay="0 s", retry_jitter=0)
    flaky = committed.enqueue("flaky", fail="the disk is full")
    committed.drain()
    committed.value("select worker.retry(%s)", flaky)
    committed.drain()
    committed.command("elsewhere", handler_kind="python", max_attempts=4)
    given_up = committed.enqueue("elsewhere")
    hand = Hand.hired(committed.conn)
    hand.fail(hand.claim_one(), retryable=False)
    site = dashboard()
    answer = site.json(f"/api/tasks/{flaky}")
    assert answer["attempts_words"] == "4 so far, 4 failed, 2 of 2 times since it was retried by hand"
    assert [one["remark"] for one in answer["attempts"]] == ["", "", "retried by hand", ""]
    page = site.get(f"/tasks/{given_up}").text
    assert "1 so far, failed 1 of 4 times" in page
    assert "attempt 1, not retried" in page


def test_a_manual_retry_is_a_separate_step() -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    times = [start + timedelta(seconds=n) for n in range(8)]
    runs = [
        Run(1, "failed", times[1], times[2], "attempt 1 failed"),
        Run(2, "failed", times[3], times[4], "attempt 2 failed", is_last=True),
        Run(3, "completed", times[6], times[7]),
    ]
    steps = path_of(Story("completed", start, times[7], runs))
    assert [(step.state, step.words) for step in steps] == [
        ("pending", "made"),
        ("processing", "attempt 1 started"),
        ("pending", "attempt 1 failed"),
        ("processing", "attempt 2 started"),
        ("failed", "attempt 2 failed"),
        ("pending", "retried by hand"),
        ("processing", "attempt 3 started"),
        ("completed", "completed"),
    ]
    assert [step.seconds for step in steps] == [1, 1, 1, 1, None, None, 1, None]


def test_follow_ups_trace_and_parent_are_linked(dashboard: StartDashboard, committed: Engine) -> None:
    root = committed.enqueue(spawn=[{"note": "child"}], follow_up=[{"note": "next"}, {"note": "last"}])
    committed.process()
    traced = committed.value("select worker.enqueue('act', p_trace => %s)", f"00-{TRACE}-00f067aa0ba902b7-01")
    site = dashboard(shown=Shown(trace_url="https://traces.example.org/{trace_id}?from=here"))
    answer = site.json(f"/api/tasks/{root}")
    follow_ups = answer["follow_ups"]
    assert (follow_ups["count"], [one["waits_for"] for one in follow_ups["tasks"]]) == (2, ["follow_up"] * 2)
    assert site.json(f"/api/tasks/{follow_ups['tasks'][0]['id']}")["follows_id"] == root
    (child,) = committed.children(root)
    page = site.get(f"/tasks/{child}").text
    assert f'href="/tasks/{root}"' in page
    assert f'href="https://traces.example.org/{TRACE}?from=here"' in site.get(f"/tasks/{traced}").text
    assert site.json(f"/api/tasks/{child}")["trace_id"] is None
    assert trace_id_of("javascript:alert(1)") is None
    with pytest.raises(RequestRefused, match="expected an http address"):
        Shown(trace_url="javascript:{trace_id}")


def test_values_are_exact_and_cut(
    dashboard: StartDashboard, committed: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(values_page, "SHOWN", 200)
    numbers = '{"big": 123456789012345678901234567890, "fine": 0.1000000000000000055511151231257827, "x": "<b>&"}'
    task = committed.value("select worker.enqueue('act', %s)", numbers)
    large = committed.enqueue(note="x" * 500)
    site = dashboard()
    answer = site.json(f"/api/tasks/{task}/payload")
    for number in ("123456789012345678901234567890", "0.1000000000000000055511151231257827"):
        assert number in answer["text"]
        assert number in site.get(f"/tasks/{task}/payload").text
    assert "&lt;b&gt;&amp;" in site.get(f"/tasks/{task}/payload").text
    assert answer["is_whole"]
    cut = site.json(f"/api/tasks/{large}/payload")
    assert (cut["is_whole"], cut["size"], len(cut["text"]) < 300) == (False, 512, True)
    assert "whole=true" in site.get(f"/tasks/{large}/payload").text
    whole = site.json(f"/api/tasks/{large}/payload", whole="true")["text"]
    assert "x" * 500 in whole
    assert "\n" in whole
    monkeypatch.setattr(values_page, "LAID_OUT", 500)
    assert "\n" not in site.json(f"/api/tasks/{large}/payload", whole="true")["text"]
    assert site.json(f"/api/tasks/{large}/result")["text"] is None
    assert site.get("/tasks/999999/payload").status_code == 404


def test_a_hook_decides_what_is_shown(dashboard: StartDashboard, committed: Engine) -> None:
    def redact(command: str, part: str, value: Any) -> Any:
        if "broken" in value:
            raise KeyError(value["broken"])
        return {key: "***" if key == "card" else item for key, item in value.items()} | {"said": f"{command} {part}"}

    task = committed.value("""select worker.enqueue('act', '{"card": "4111", "amount": 12.50}')""")
    broken = committed.enqueue(broken="a secret")
    site = dashboard(shown=Shown(redact=redact))
    text = site.json(f"/api/tasks/{task}/payload")["text"]
    assert '"card": "***"' in text
    assert '"amount": 12.50' in text
    assert '"said": "act payload"' in text
    answer = site.json(f"/api/tasks/{broken}/payload")
    assert answer["text"] is None
    assert "hook failed" in answer["reason"]
    hidden = dashboard(shown=Shown(hides_values=True))
    for address in (site, hidden):
        for path in ("/tasks", "/api/tasks"):
            assert "a secret" not in address.get(f"{path}/{broken}/payload?whole=true").text
    assert hidden.json(f"/api/tasks/{task}/payload")["text"] is None


@pytest.mark.parametrize("value", [object(), {"a": [object()]}, b"a secret"], ids=["object", "inside", "bytes"])
def test_what_a_hook_returns_is_shown_as_json_or_not_at_all(value: object) -> None:
    async def later(*_: object) -> object:
        return value

    for hook in (lambda *_: value, lambda *_: later()):
        text, reason = Shown(redact=hook).text_of("act", "payload", "{}")
        assert text is None
        assert "hook failed" in (reason or "")
    wrong: Any
    for wrong in (later, partial(later, 1), "x", 5):
        with pytest.raises(RequestRefused, match=r"redact is .*, expected a function that returns"):
            asgi_app("dbname=none", authenticate=lambda _: None, redact=wrong)


def test_json_text_is_laid_out_and_stays_as_it_is() -> None:
    text = '{"a": [1, 2.50, {}], "b": "x, \\"[]: y", "c": []}'
    assert pretty(text).replace("\n", "").replace(" ", "") == text.replace(" ", "")
    assert pretty('{"a": [1, {}], "b": []}') == '{\n  "a": [\n    1,\n    {}\n  ],\n  "b": []\n}'
    # Cut anywhere, and nested as deep as it may be, it ends.
    for end in range(len(text)):
        pretty(text[:end])
    assert len(pretty("[" * 30_000)) < 3_000_000
    assert dump_exactly({"a": (1, None, True)}) == '{"a": [1, null, true]}'


def test_the_surroundings_are_read_by_index(engine: Engine) -> None:
    """However long the lane is, and however many follow-ups there are."""
    engine.queue("mail", mode="concurrent")
    engine.command("send", "mail")
    engine.conn.execute(
        "select worker.enqueue_many('send', array_fill('{}'::jsonb, array[3000]), p_lanes => array_fill('l'::text,"
        " array[3000]))"
    )
    (last,) = engine.conn.execute("select max(id) from worker.tasks").fetchone() or (0,)
    engine.conn.execute("analyze worker.task, worker.blocked")
    engine.conn.execute("select * from worker.surroundings_of(%s)", [last])
    plan = engine.value("explain (analyze, buffers, format json) select * from worker.surroundings_of(%s)", last)
    assert plan[0]["Plan"]["Shared Hit Blocks"] + plan[0]["Plan"]["Shared Read Blocks"] < 1500
    (lane,) = engine.conn.execute("select lane from worker.surroundings_of(%s)", [last]).fetchone() or ({},)
    assert (lane["ahead"], lane["behind"]) == (1000, 0)
    assert engine.conn.execute("select * from worker.surroundings_of(0)").fetchall() == []
