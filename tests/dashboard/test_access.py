"""Who may see and do what, and what other sites and strangers cannot."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import httpx
import pytest
from psycopg.conninfo import make_conninfo
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection
from starlette.routing import Mount, Route

from catchment.dashboard import TrustedProxy, User, asgi_app
from catchment.dashboard.auth.check import Access
from catchment.dashboard.auth.sessions import IDLE_SECONDS, WHOLE_SECONDS, Sessions
from catchment.dashboard.auth.throttle import SECONDS, TRIES, TRIES_OF_ALL, Throttle
from catchment.dashboard.server import check_host, read_prefix
from catchment.dashboard.settings import read_access
from catchment.errors import RequestRefused
from tests.fixtures.dashboard import VIEWER, DashboardSite, StartDashboard, serving
from tests.fixtures.engine import Engine
from tests.fixtures.often import some_rows

PASSWORD = "the password of ada"  # noqa: S105
TOKEN = "the token of a program"  # noqa: S105
PROXY = TrustedProxy("X-Forwarded-User", addresses=["127.0.0.1"], operators=["ada"])


def failed_task(engine: Engine) -> int:
    task_id = engine.enqueue(fail="no")
    engine.drain()
    return task_id


def audit(engine: Engine) -> list[Any]:
    return engine.conn.execute("select actor, action, subject, result from worker.audit order by id").fetchall()


def test_every_answer_has_the_headers_that_browsers_obey(dashboard: StartDashboard) -> None:
    site = dashboard()
    for path in ("/", "/tasks", "/static/dashboard.js", "/api/now", "/nowhere", "/healthz", "/events/none"):
        headers = site.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert not [name for name in headers if name.startswith("access-control-")]
    cookie = httpx.get(site.address).headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie


def test_a_huge_number_or_an_error_on_the_way_to_a_page_is_a_clean_answer(db: str) -> None:
    def who(request: HTTPConnection) -> User | None:
        if "x-defect" in request.headers:
            raise LookupError("a defect of the host")
        return User("ada", "operator") if "x-user" in request.headers else None

    app = asgi_app(db, authenticate=who)
    paths = {re.sub(r"{[^}]*}", "9" * 5000, route.path) for route in app.routes if isinstance(route, Route)}
    numbered = sorted(path for path in paths if "9" * 5000 in path)
    assert len(numbered) > 10

    async def ask() -> None:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://host") as client:
            for path in numbered:
                for method in ("GET", "POST"):
                    for headers in ({}, {"x-user": "ada"}):
                        answer = await client.request(method, path, headers=headers)
                        assert 400 <= answer.status_code < 500, (method, path[:20])
                        assert "content-security-policy" in answer.headers
            defect = await client.get("/tasks", headers={"x-defect": "1"})
            assert defect.status_code == 500
            assert "which is in the log of the dashboard" in defect.text
            assert "content-security-policy" in defect.headers
        await app.state.site.database.close()

    asyncio.run(ask())


def test_a_dashboard_without_authentication_answers_under_loopback_names_alone(dashboard: StartDashboard) -> None:
    site = dashboard()
    for path in ("/", "/api/tasks", "/events"):
        answer = site.get(path, headers={"Host": "rebound.example.org"})
        assert answer.status_code == 403
        assert "rebound.example.org" in answer.text
    assert site.get("/", headers={"Host": "localhost:80"}).status_code == 200
    assert site.get("/", headers={"Host": "["}).status_code == 403


def test_off_loopback_it_refuses_to_start_without_authentication() -> None:
    for host in ("0.0.0.0", "::", "10.0.0.1", "example.org"):  # noqa: S104
        with pytest.raises(RequestRefused, match="no authentication"):
            check_host(host, Access())
        check_host(host, Access(tokens={"viewer": TOKEN}))
    for host in ("127.0.0.1", "::1", "localhost", "127.1.2.3"):
        check_host(host, Access())
    with pytest.raises(RequestRefused, match="given no authentication"):
        asgi_app("dbname=none")
    wrong: Any = 12345678
    with pytest.raises(RequestRefused, match="is no text: int"):
        asgi_app("dbname=none", password=wrong)
    with pytest.raises(RequestRefused, match="expected a function"):
        asgi_app("dbname=none", authenticate=wrong)
    with pytest.raises(RequestRefused, match="has 5 characters"):
        asgi_app("dbname=none", password="short")  # noqa: S106


@pytest.mark.parametrize(
    "path",
    ["jobs", "//evil.example.org", "/a?b#c", '/"><script>', "/é", "/a b", "/a%20b", "/..", "/a/./b", "/a\n", "/a//b"],
)
def test_a_prefix_that_is_no_path_is_refused_at_the_start(path: str) -> None:
    with pytest.raises(RequestRefused, match="expected a path such as /jobs"):
        read_prefix(path)
    assert [read_prefix(path) for path in ("", "/", "/jobs", "/jobs/", "/a-b/~c.d_e")] == [
        *("", "", "/jobs", "/jobs", "/a-b/~c.d_e")
    ]


@pytest.mark.parametrize(
    ("header", "addresses", "operators", "said"),
    [
        ("bad header", ["10.0.0.5"], [], "which no header can be called"),
        ("X-User:", ["10.0.0.5"], [], "which no header can be called"),
        ("", ["10.0.0.5"], [], "which no header can be called"),
        ("X-User", ["0.0.0.0/0"], [], "which is every address"),
        ("X-User", ["10.0.0.5", "::/0"], [], "which is every address"),
        ("X-User", ["proxy"], [], "expected an IP address"),
        ("X-User", "10.0.0.5", [], "expected a list"),
        ("X-User", ["10.0.0.5"], "ada", "expected a list"),
        ("X-User", [], [], "belong together"),
        (None, ["10.0.0.5"], [], "belong together"),
        (None, [], ["ada"], "--operator is 'ada', and there is no proxy"),
    ],
)
def test_options_of_a_proxy_are_checked_at_the_start(header: Any, addresses: Any, operators: Any, said: str) -> None:
    with pytest.raises(RequestRefused, match=re.escape(said)):
        read_access(header, addresses, operators)


def test_a_form_of_another_site_does_nothing(dashboard: StartDashboard, committed: Engine) -> None:
    site, task_id = dashboard(), failed_task(committed)
    path = f"/tasks/{task_id}/retry"
    token = site.token()
    for headers in (
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
        {"Origin": "https://evil.example.org"},
        {"Origin": "null"},
        {"Origin": "http://["},
        {},
    ):
        assert site.post(path, token=token, confirmed="yes", headers=headers).status_code == 403
    for wrong in ("", "0" * 64, token[:-1]):
        assert site.post(path, token=wrong, confirmed="yes").status_code == 403
    # A token belongs to one visit.
    with httpx.Client() as other:
        stranger = DashboardSite(site.address, other)
        stranger.get("/")
        assert stranger.post(path, token=token, confirmed="yes").status_code == 403
    assert site.client.post(f"{site.address}/api{path}", headers={"Sec-Fetch-Site": "same-origin"}).status_code == 403
    assert "?</h1>" in site.get(path).text  # A question, which does nothing.
    assert committed.state(task_id) == "failed"
    assert site.post(path, token=token, confirmed="yes", headers={"Origin": site.address}).status_code == 303
    assert committed.state(task_id) == "pending"


def test_an_action_asks_first_and_is_audited(dashboard: StartDashboard, committed: Engine) -> None:
    site, task_id = dashboard(), failed_task(committed)
    asked = site.ask(f"/tasks/{task_id}/retry")
    assert f"Retry task {task_id}?" in asked.text
    assert committed.state(task_id) == "failed"
    assert audit(committed) == []
    site.post(f"/tasks/{task_id}/retry", token=site.token(), confirmed="yes")
    again = site.post(f"/tasks/{task_id}/retry", token=site.token(), confirmed="yes")
    assert again.status_code == 409
    assert f"task {task_id} is pending, only failed and cancelled tasks can be retried" in again.text.lower()
    subject = f"task {task_id}"
    assert audit(committed) == [
        ("ada", "task.retry", subject, "done"),
        ("ada", "task.retry", subject, "refused"),
    ]


def test_what_was_asked_for_another_state_is_not_done(dashboard: StartDashboard, committed: Engine) -> None:
    """Others have acted since the page was read. Nothing is done, and the answer says so."""
    site, task_id = dashboard(), failed_task(committed)
    worker_id = committed.value("select worker_id from worker.register_worker('host', p_has_lock => false)")
    committed.conn.execute("insert into worker.schedule (name, command, cron) values ('nightly', 'act', '0 2 * * *')")
    committed.value("select worker.retry(%s)", task_id)
    committed.value("select worker.cancel(%s)", task_id)
    committed.value("select worker.pause_queue('work', now() + '1 hour', 'eve')")
    committed.value("select worker.pause_schedule('nightly')")
    committed.value("select worker.ask_worker(%s, 'drain', 'eve')", worker_id)

    def said(path: str, **fields: str) -> str:
        answer = site.post(path, token=site.token(), confirmed="yes", **fields)
        return answer.text if answer.status_code != 303 else site.get(answer.headers["location"]).text

    assert f"task {task_id} is cancelled, and was failed when" in said(f"/tasks/{task_id}/retry", seen="failed").lower()
    assert f"Nothing was done: task {task_id} was cancelled already" in said(f"/tasks/{task_id}/cancel")
    assert "Nothing was done: queue work is paused already" in said("/queues/pause", queue="work")
    assert "Nothing was done: schedule nightly is paused already" in said("/schedules/pause", name="nightly")
    assert f"orker {worker_id} is draining" in said(f"/workers/{worker_id}/pause")
    assert f"orker {worker_id} is draining, and was paused" in said(f"/workers/{worker_id}/resume", seen="paused")
    assert committed.state(task_id) == "cancelled"
    # The pause of another keeps its name, and ends when that one said.
    assert committed.value("select paused_by from worker.queue_registry where queue = 'work'") == "eve"
    assert committed.value("select asked from worker.worker where worker_id = %s", worker_id) == "drain"
    said("/queues/resume", queue="work")
    said("/schedules/resume", name="nightly")
    assert "Nothing was done: queue work is not paused" in said("/queues/resume", queue="work")
    assert "Nothing was done: schedule nightly is not paused" in said("/schedules/resume", name="nightly")


def test_a_viewer_reads_and_changes_nothing(dashboard: StartDashboard, committed: Engine) -> None:
    site, task_id = dashboard(user=VIEWER), failed_task(committed)
    page = site.get(f"/tasks/{task_id}").text
    assert "<form" not in page
    assert site.post(f"/tasks/{task_id}/retry", token="", confirmed="yes").status_code == 403
    assert committed.state(task_id) == "failed"


def test_a_viewer_with_a_token_is_refused_and_that_is_audited(dashboard: StartDashboard, committed: Engine) -> None:
    site = dashboard(Access(tokens={"viewer": TOKEN}))
    task_id = failed_task(committed)
    headers = {"Authorization": f"Bearer {TOKEN}"}
    assert site.get("/api/tasks").status_code == 401
    assert site.get("/api/tasks", headers={"Authorization": "Bearer wrong"}).status_code == 401
    assert site.get("/api/tasks", headers=headers).json()["tasks"][0]["id"] == task_id
    answer = site.client.post(f"{site.address}/api/tasks/{task_id}/retry", headers=headers)
    assert answer.status_code == 403
    assert "is a viewer" in answer.json()["error"]["message"]
    assert audit(committed) == [("token (viewer)", "task.retry", f"task {task_id}", "refused")]


def test_the_database_refuses_what_the_login_of_the_dashboard_may_not(
    dashboard: StartDashboard, committed: Engine, db: str
) -> None:
    """An operator of a dashboard whose login only reads can change nothing either."""
    task_id = failed_task(committed)
    committed.conn.execute("create role only_reads login in role catchment_read")

    with serving(make_conninfo(db, user="only_reads"), Access(tokens={"operator": TOKEN})) as address:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        assert httpx.get(f"{address}/api/tasks", headers=headers).json()["tasks"][0]["id"] == task_id
        answer = httpx.post(f"{address}/api/tasks/{task_id}/cancel", headers=headers)
        assert answer.status_code == 403
        assert "permission denied" in answer.json()["error"]["message"]
    committed.conn.execute("drop role only_reads")
    assert committed.state(task_id) == "failed"


def test_people_log_in_with_a_password_and_out(dashboard: StartDashboard) -> None:
    site = dashboard(Access(passwords={"operator": PASSWORD}))
    turned = site.get("/tasks?state=failed")
    assert turned.status_code == 303
    assert turned.headers["location"] == "/login?next=/tasks%3Fstate%3Dfailed"
    assert site.get("/api/tasks").status_code == 401
    assert site.get("/events").status_code == 401
    token = site.token("/login")
    wrong = site.post("/login", token=token, name="ada", password="wrong", next="/tasks")  # noqa: S106
    assert wrong.status_code == 403
    assert "This password is not right." in wrong.text
    right = site.post("/login", token=token, name="ada", password=PASSWORD, next="//evil.example.org")
    assert right.headers["location"] == "/"
    assert "SameSite=Strict" in right.headers["set-cookie"]
    assert ">ada<" in site.get("/").text
    assert site.post("/logout", token=site.token()).status_code == 303
    assert site.get("/").status_code == 303


@pytest.mark.parametrize("name", ["", "  ", "a\0b", "a\nb", "x" * 201])
def test_a_log_in_needs_a_name_that_can_be_written(dashboard: StartDashboard, name: str) -> None:
    site = dashboard(Access(passwords={"operator": PASSWORD}))
    refused = site.post("/login", token=site.token("/login"), name=name, password=PASSWORD)
    assert refused.status_code == 400
    assert "Give your name: 1 to 200 characters" in refused.text
    assert site.get("/").status_code == 303
    with pytest.raises(RequestRefused, match="without control characters"):
        User(name)


def test_two_dashboards_of_one_host_keep_their_log_ins(dashboard: StartDashboard) -> None:
    one, other = (dashboard(Access(passwords={"operator": PASSWORD})) for _ in range(2))
    other.client.cookies = one.client.cookies  # one browser
    for site, name in ((one, "ada"), (other, "eve")):
        assert site.post("/login", token=site.token("/login"), name=name, password=PASSWORD).status_code == 303
    assert ">ada<" in one.get("/").text
    assert ">eve<" in other.get("/").text
    assert one.post("/logout", token=one.token()).status_code == 303
    assert other.get("/").status_code == 200


def test_log_ins_are_throttled(dashboard: StartDashboard) -> None:
    site = dashboard(Access(passwords={"operator": PASSWORD}))
    token = site.token("/login")
    codes = [site.post("/login", token=token, name="x", password=f"no {i}").status_code for i in range(TRIES + 1)]
    assert codes == [403] * TRIES + [429]
    late = site.post("/login", token=token, name="ada", password=PASSWORD)
    assert late.status_code == 429
    assert 0 < int(late.headers["retry-after"]) <= SECONDS


def test_a_throttle_forgets_and_counts_all_addresses_together() -> None:
    now = [0.0]
    throttle = Throttle(lambda: now[0])
    for _ in range(TRIES):
        throttle.failed("a")
    assert throttle.wait("a") == SECONDS
    assert throttle.wait("b") == 0
    for number in range(TRIES_OF_ALL):
        throttle.failed(f"address {number}")
    assert throttle.wait("b") > 0
    now[0] = SECONDS + 1
    assert throttle.wait("a") == throttle.wait("b") == 0


def test_sessions_end_when_idle_and_when_old() -> None:
    now = [0.0]
    sessions = Sessions(lambda: now[0])
    token = sessions.begin(VIEWER)
    now[0] += IDLE_SECONDS - 1
    assert sessions.find(token, is_use=False) == VIEWER
    assert sessions.find(token) == VIEWER
    now[0] += IDLE_SECONDS + 1
    assert sessions.find(token) is None
    token = sessions.begin(VIEWER)
    for _ in range(int(WHOLE_SECONDS / IDLE_SECONDS) + 1):
        now[0] += IDLE_SECONDS - 1
        sessions.find(token)
    assert sessions.find(token) is None
    token = sessions.begin(VIEWER)
    sessions.end(token)
    assert sessions.find(token) is None


def test_a_page_that_nobody_uses_does_not_keep_its_session(db: str) -> None:
    """It reads itself again as long as it is open; only what a person asks for counts."""
    now = [0.0]
    app = asgi_app(db, password=PASSWORD)
    app.state.site.checker.sessions = Sessions(lambda: now[0])

    async def ask() -> None:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://host") as client:
            (token,) = re.findall(r'name="token" value="(\w+)"', (await client.get("/login")).text)
            fields = {"token": token, "name": "ada", "password": PASSWORD}
            await client.post("/login", data=fields, headers={"Sec-Fetch-Site": "same-origin"})

            async def look(**headers: str) -> int:
                now[0] += IDLE_SECONDS * 0.4
                return (await client.get("/", headers=headers)).status_code

            live = {"X-Catchment-Live": "1"}
            assert [await look(), await look(**live), await look(), await look(**live)] == [200] * 4
            assert [await look(**live), await look(**live)] == [200, 303]
        await app.state.site.database.close()

    asyncio.run(ask())


def test_a_host_may_refuse_as_its_framework_does(db: str) -> None:
    """With the status, words and address that it chose, and not as a defect."""

    def who(request: HTTPConnection) -> User | None:
        match request.headers.get("x-case"):
            case "closed":
                raise HTTPException(403, "the office is closed")
            case "elsewhere":
                raise HTTPException(303, headers={"Location": "/accounts/login"})
            case _:
                raise HTTPException(401)

    app = asgi_app(db, authenticate=who)

    async def ask() -> None:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://host") as client:
            closed = await client.get("/tasks", headers={"x-case": "closed"})
            assert (closed.status_code, "The office is closed." in closed.text) == (403, True)
            led = await client.get("/tasks", headers={"x-case": "elsewhere"})
            assert (led.status_code, led.headers["location"]) == (303, "/accounts/login")
            assert (await client.get("/api/tasks")).status_code == 401
            assert (await client.get("/events", headers={"x-case": "closed"})).status_code == 403
        await app.state.site.database.close()

    asyncio.run(ask())


def test_a_header_counts_from_the_proxy_alone(dashboard: StartDashboard) -> None:
    site = dashboard(Access(proxy=PROXY))
    assert site.get("/").status_code == 401
    site.client.cookies.clear()
    page = site.get("/", headers={"X-Forwarded-User": "eve", "X-Forwarded-Proto": "https"})
    assert ">eve<" in page.text
    assert "; Secure" in page.headers["set-cookie"]
    assert "Pause" in site.get("/", headers={"X-Forwarded-User": "ada"}).text
    named = site.get("/", headers={"X-Forwarded-User": "Émile".encode()})
    assert ">Émile<" in named.text
    twice = httpx.Headers([("X-Forwarded-User", "ada"), ("X-Forwarded-User", "eve")])
    assert site.get("/", headers=twice).status_code == 401
    elsewhere = dashboard(Access(proxy=TrustedProxy("X-Forwarded-User", addresses=["10.0.0.0/8"])))
    assert elsewhere.get("/", headers={"X-Forwarded-User": "ada"}).status_code == 401


@pytest.mark.parametrize(
    ("answer", "status"),
    [(False, 401), (None, 401), (True, 500), ("ada", 500), ({"name": "ada"}, 500), (0, 500), (lambda: User(""), 500)],
)
def test_an_authentication_that_returns_no_user_lets_nobody_in(db: str, answer: Any, status: int) -> None:
    app = asgi_app(db, authenticate=lambda _: answer() if callable(answer) else answer)

    async def ask() -> None:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://host") as client:
            for path in ("/", "/api/tasks", "/metrics", "/events", "/api/openapi.json"):
                assert (await client.get(path)).status_code == status, path
        await app.state.site.database.close()

    asyncio.run(ask())


@pytest.mark.parametrize(
    ("prefix", "written"),
    some_rows(
        [("/jobs", "/jobs"), ("/jobs x", "/jobs%20x"), ("/größe", "/gr%C3%B6%C3%9Fe"), ("/a;b", "/a%3Bb")], one_in=2
    ),
)
def test_it_is_mounted_under_a_prefix_with_the_authentication_of_its_host(db: str, prefix: str, written: str) -> None:
    async def who(request: HTTPConnection) -> User | None:
        name = request.headers.get("x-user")
        return User(name, "operator") if name else None

    app = asgi_app(db, authenticate=who)
    host = Starlette(routes=[Mount(prefix, app)])

    async def ask() -> None:
        transport = httpx.ASGITransport(host)
        async with httpx.AsyncClient(transport=transport, base_url="http://host") as client:
            refused = await client.get(f"{written}/")
            assert refused.status_code == 401
            assert f"; Path={written};" in refused.headers["set-cookie"]
            page = await client.get(f"{written}/tasks", headers={"x-user": "ada"})
            assert page.status_code == 200
            inner = [part.split('"')[0] for part in page.text.split('href="')[1:] + page.text.split('src="')[1:]]
            assert [link for link in inner if not link.startswith((f"{written}/", "#"))] == []
            assert (await client.get(f"{written}/static/dashboard.css")).status_code == 200
            document = (await client.get(f"{written}/api/openapi.json", headers={"x-user": "ada"})).json()
            assert document["servers"] == [{"url": written}]
        await app.state.site.database.close()

    asyncio.run(ask())
