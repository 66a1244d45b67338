"""Makes the endpoints of screens and actions: the page, the same as JSON, and the forms."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import quote, urlencode

from psycopg.errors import InsufficientPrivilege
from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from catchment.dashboard.actions import run_action
from catchment.dashboard.auth.check import Asker
from catchment.dashboard.errors import Problem, not_of_the_request, problem_of, refused_by_database
from catchment.dashboard.requests import asker_of, read_form, read_json, read_query
from catchment.dashboard.screen import Answer, AnyAction, AnyScreen, Form, FormInvalid, Query
from catchment.dashboard.security import inner_path, is_same_origin, prefix_of
from catchment.dashboard.site import Site, is_api, is_following

logger = logging.getLogger("catchment.dashboard")

Endpoint = Callable[[Request], Awaitable[Response]]


def screen_routes(site: Site, screen: AnyScreen) -> list[Route]:
    """The page, and the same data at /api."""
    plugin = site.plugins.of(screen)
    role = None if plugin is None else plugin.role

    async def read(request: Request) -> tuple[Any, Answer]:
        asker_of(request)
        query = read_query(request, screen.query, is_typed=not is_api(request))

        async def answer() -> Answer:
            async with site.database.reading(role) as reader:
                await site.plugins.look(reader, screen)
                with not_of_the_request():
                    return await screen.read(reader, query)

        try:
            if is_following(request):
                return query, await site.recent.read(f"{screen.name} {query.model_dump_json()}", answer)
            return query, await answer()
        except InsufficientPrivilege as error:
            raise refused_by_database(error, role) from error

    async def page(request: Request) -> Response:
        query, answer = await read(request)
        await site.title()
        section = screen.section or screen.name
        title = screen.title(answer)
        with not_of_the_request():
            return site.page(request, screen.template, section=section, query=query, answer=answer, title=title)

    async def api(request: Request) -> Response:
        _, answer = await read(request)
        return Response(answer.model_dump_json(), media_type="application/json")

    return [
        Route(screen.path, guarded(site, page), methods=["GET"], name=screen.name),
        Route(f"/api{screen.path.rstrip('/') or '/now'}", guarded(site, api), methods=["GET"]),
    ]


def action_routes(site: Site, action: AnyAction) -> list[Route]:
    """The form, which asks for confirmation, and the same for programs."""

    async def form(request: Request) -> Response:
        asker = asker_of(request)
        fields = await read_form(request)
        check_origin(site, request, fields.pop("token", ""))
        is_confirmed = fields.pop("confirmed", "") == "yes"
        given = {key: value for key, value in fields.items() if value.strip()}
        if action.form is None:
            return await answer(request, asker, given, given, is_confirmed)
        try:
            async with site.database.reading() as reader:
                values = await action.form.read(reader, given)
            return await answer(request, asker, given, values, is_confirmed)
        except (FormInvalid, ValidationError, Problem) as error:
            return await form_again(site, request, action.form, given, error)

    async def answer(
        request: Request, asker: Asker, given: dict[str, str], values: dict[str, Any], is_confirmed: bool
    ) -> Response:
        body = action.body.model_validate({**values, **request.path_params})
        if not is_confirmed and action.form is None:
            # A question at an address: the browser can go back to it.
            asked = f"?{urlencode(given)}" if given else ""
            return RedirectResponse(f"{prefix_of(request.scope)}{inner_path(request.scope)}{asked}", 303)
        if not is_confirmed:
            return question(request, body, given)
        done = await run_action(site.database, action, asker.user, body)
        site.hub.change()
        site.notes.put(request.state.visit, done.message)
        return RedirectResponse(f"{prefix_of(request.scope)}{done.to or action.page_after(body)}", 303)

    def question(request: Request, body: Query, given: dict[str, str]) -> Response:
        return site.page(
            request,
            "confirm.html",
            title=action.verb(body),
            action=action,
            body=body,
            fields=given,
            back=action.page_after(body),
            preview="" if action.form is None else action.form.preview(body),
        )

    async def show(request: Request) -> Response:
        asker_of(request)
        given = dict(request.query_params)
        return question(request, action.body.model_validate({**given, **request.path_params}), given)

    async def api(request: Request) -> Response:
        asker = asker_of(request)
        if asker.by != "bearer":
            check_origin(site, request, request.headers.get("x-csrf-token", ""))
        body = action.body.model_validate({**(await read_json(request, action.body)), **request.path_params})
        done = await run_action(site.database, action, asker.user, body)
        site.hub.change()
        return Response(
            ActionAnswer(message=done.message, state=done.state, path=done.to).model_dump_json(), media_type=JSON
        )

    asks = [] if action.form is not None else [Route(action.path, guarded(site, show), methods=["GET"])]
    return [
        *asks,
        Route(action.path, guarded(site, form), methods=["POST"], name=action.name),
        Route(f"/api{action.path}", guarded(site, api), methods=["POST"]),
    ]


JSON = "application/json"


class ActionAnswer(Answer):
    """What an action did, in a sentence, the new state of its subject, and the page of what it made."""

    message: str
    state: str | None
    path: str | None


async def form_again(
    site: Site, request: Request, form: Form, given: dict[str, str], error: FormInvalid | ValidationError | Problem
) -> Response:
    """The form with what was filled in, and what is wrong with it. What is not about the form is raised."""
    if isinstance(error, Problem) and error.status not in (400, 409):
        raise error
    errors: dict[str, str] = {}
    if isinstance(error, FormInvalid):
        errors = error.errors
    elif isinstance(error, Problem):
        errors = {"": f"{error.message}. {error.hint or ''}".strip()}
    else:
        for one in error.errors(include_url=False):
            errors.setdefault(str(one["loc"][0]) if one["loc"] else "", f"{one['msg'][0].lower()}{one['msg'][1:]}")
    screen = form.screen
    query = screen.query.model_validate(form.query(given))
    async with site.database.reading() as reader:
        answer = await screen.read(reader, query)
    return site.page(
        request,
        screen.template,
        status=400,
        section=screen.section or screen.name,
        query=query,
        answer=answer,
        title=screen.title(answer),
        errors=errors,
        given=given,
    )


def check_origin(site: Site, request: Request, token: str) -> None:
    """Refuse what a page of another site may have sent."""
    if not is_same_origin(request):
        if "origin" in request.headers or "sec-fetch-site" in request.headers:
            raise Problem(403, "this request was sent by a page of another site", "Use the buttons of this dashboard.")
        raise Problem(
            403,
            "this request does not say which page sent it",
            "A program sends a token: start the dashboard with CATCHMENT_DASHBOARD_TOKEN, and send"
            " Authorization: Bearer … with it.",
        )
    if not site.tokens.is_valid(token, request.state.visit, request.state.asker):
        raise Problem(
            403, "the form is too old, or not of this dashboard", "Go back, load the page again and repeat it."
        )


def guarded(site: Site, endpoint: Endpoint) -> Endpoint:
    """Turn what an endpoint raises into an answer."""

    async def run(request: Request) -> Response:
        try:
            if not request.state.is_known_host:
                host = request.headers.get("host", "")[:100]
                raise Problem(403, f"this dashboard is not known as {host!r}", "Use the address that it printed.")
            return await endpoint(request)
        except Exception as error:
            return refusal(site, request, error)

    return run


def refusal(site: Site, request: Request, error: Exception) -> Response:
    """The answer to a request that has failed with this error."""
    problem = problem_of(error)
    if problem.status == 401 and not is_api(request) and site.checker.access.passwords:
        target = quote(inner_path(request.scope), safe="/")
        query = f"?{request.url.query}" if request.url.query else ""
        return RedirectResponse(f"{prefix_of(request.scope)}/login?next={target}{quote(query)}", 303)
    if problem.status == 500:
        logger.error("%s %s failed", request.method, request.url.path[:200], exc_info=error)
    return site.refuse(request, problem)
