"""Commands: what a function must look like, what its options may be, and what is refused at definition."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

import catchment
from catchment import App, Child, Context, Limit
from catchment.errors import ArgumentsInvalid, CommandNotRegistered, DefinitionRefused, RequestRefused
from catchment.task.command import Command
from catchment.task.options import CommandOptions, Retry

if TYPE_CHECKING:
    from decimal import Decimal as Missing


def make(fn: Callable[..., Any], **options: Any) -> Command[..., Any]:
    return Command(fn, CommandOptions(**options), App("host=/nowhere"))


async def send(to: str, body: str = "") -> int:
    """Send it."""
    return len(to + body)


def charge(ctx: Context, order_id: int) -> int:
    return order_id


def test_calling_a_command_calls_its_function() -> None:
    command = make(send)
    assert asyncio.run(command("a", body="bc")) == 3
    assert command.__doc__ == "Send it."


def test_a_command_is_named_after_its_function_by_default() -> None:
    assert make(send).name == "send"
    assert Command(send, CommandOptions(), App("host=/nowhere"), name="mail.send").name == "mail.send"


@pytest.mark.parametrize(("fn", "executor"), [(send, "async"), (charge, "thread")])
def test_the_executor_follows_from_the_function(fn: Any, executor: str) -> None:
    assert make(fn).executor == executor


def test_a_process_is_used_only_if_asked_for() -> None:
    assert make(module_level, executor="process").executor == "process"


def module_level(n: int) -> int:
    return n


@pytest.mark.parametrize("fn", [send, charge])
def test_a_process_runs_neither_async_functions_nor_contexts(fn: Any) -> None:
    with pytest.raises(DefinitionRefused, match="executor='process' cannot run"):
        make(fn, executor="process")


def test_a_process_cannot_find_a_local_function() -> None:
    def local() -> None: ...

    with pytest.raises(DefinitionRefused, match="defined inside a function"):
        make(local, executor="process")


@pytest.mark.parametrize(("fn", "executor"), [(send, "thread"), (charge, "async")])
def test_an_executor_that_does_not_fit_the_function_is_refused(fn: Any, executor: str) -> None:
    with pytest.raises(DefinitionRefused, match=f"executor='{executor}' cannot run"):
        make(fn, executor=executor)


def test_the_context_is_known_by_its_annotation() -> None:
    def handler(where: catchment.Context, a: int, b: int = 2) -> None: ...

    command = make(handler)
    context = Context.local()
    assert command.wants_context
    assert command.payload.names == ("a", "b")
    assert command.bind(context, {"a": 1, "b": 2}) == {"a": 1, "b": 2, "where": context}


def test_the_context_is_known_by_name_when_only_checkers_import_it() -> None:
    def handler(ctx: int) -> None: ...

    handler.__annotations__["ctx"] = "somewhere.Context"
    assert make(handler).wants_context


def test_an_annotation_that_cannot_be_resolved_is_refused() -> None:
    def handler(amount: Missing) -> None: ...

    with pytest.raises(DefinitionRefused, match=r"the annotation of amount in .*handler cannot be resolved: 'Missing'"):
        make(handler)


def test_a_return_annotation_that_cannot_be_resolved_is_refused() -> None:
    def handler() -> Missing: ...  # type: ignore[empty-body]

    with pytest.raises(DefinitionRefused, match=r"the annotation of return in .*handler cannot be resolved: 'Missing'"):
        make(handler)


def test_a_return_annotation_that_no_result_can_have_is_refused() -> None:
    def handler() -> App: ...  # type: ignore[empty-body]

    with pytest.raises(DefinitionRefused, match=r"the return annotation of .*handler is .*App.*cannot be read back"):
        make(handler)


@pytest.mark.parametrize(
    "name",
    [
        *("lane", "priority", "at", "delay", "conn", "app", "payload", "command", "self", "cls", "children", "args"),
        *("kwargs", "arguments", "_private", "__dunder", "model_config", "model_fields", "json", "validate", "timeout"),
    ],
)
def test_no_name_of_a_parameter_is_reserved(name: str) -> None:
    scope: dict[str, Any] = {"Context": Context}
    exec(f"def take(ctx: Context, {name}: int, other: str = 'x') -> int: return {name}", scope)  # noqa: S102
    command = make(scope["take"])
    text = command.item(**{name: 7}).payload
    context = Context.local()
    assert command.fn(**command.bind(context, command.payload.load(text))) == 7
    context.spawn(command, **{name: 7})
    context.spawn(command.using(priority=1), 7)
    with pytest.raises(ArgumentsInvalid, match="is missing"):
        command.item()


def positional_only(a: int, /) -> None: ...
def any_positional(*args: int) -> None: ...
def any_keyword(**kwargs: int) -> None: ...
def no_annotation(ctx) -> None: ...  # type: ignore[no-untyped-def]
def two(a: Context, b: Context) -> None: ...
def late(a: int, where: Context) -> None: ...


class Owner:
    def method(self, a: int) -> None: ...


def generator() -> Any:
    yield 1


@pytest.mark.parametrize(
    ("fn", "reason"),
    [
        (positional_only, "parameter a of positional_only is positional-only"),
        (any_positional, "parameter args of any_positional takes any positional arguments"),
        (any_keyword, "parameter kwargs of any_keyword takes any keyword arguments"),
        (no_annotation, "parameter ctx of no_annotation has no annotation"),
        (Owner.method, "Owner.method is a method, expected a function"),
        (late, "takes its context where as parameter 2, expected as the first"),
        (two, "takes two contexts, a and b"),
        (generator, "is a generator"),
        (print, "is no function"),
        (lambda: None, "a lambda has no name"),
    ],
)
def test_a_function_that_a_payload_cannot_fill_is_refused(fn: Any, reason: str) -> None:
    with pytest.raises(DefinitionRefused, match=reason):
        make(fn)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"max_attempts": 0}, "max_attempts is 0, expected an integer from 1 to 2147483647"),
        ({"priority": "high"}, "priority is 'high'"),
        ({"priority": 2**31}, "priority is 2147483648"),
        ({"max_attempts": 2**31}, "max_attempts is 2147483648"),
        ({"timeout": timedelta.max}, "timeout is .*, expected more than zero and at most 100 years"),
        ({"queue": ""}, "queue is '', expected a name"),
        ({"timeout": timedelta()}, "timeout is .*, expected more than zero"),
        ({"on_failure": "explode"}, "on_failure is 'explode'"),
        ({"executor": "gpu"}, "executor is 'gpu'"),
        ({"merge": {"to": "union"}}, "merge is given without dedup"),
        ({"dedup": ("to",), "merge": {"body": "glue"}}, "merge rule of 'body' is 'glue'"),
        ({"dedup": ("whom",)}, "dedup of send names whom"),
        ({"dedup": (), "merge": {"what": "add"}}, "merge of send names what"),
    ],
)
def test_an_option_that_makes_no_sense_is_refused(options: dict[str, Any], reason: str) -> None:
    with pytest.raises(DefinitionRefused, match=reason):
        make(send, **options)


@pytest.mark.parametrize(
    "options",
    [
        {"delay": timedelta(seconds=-1)},
        {"delay": timedelta.max},
        {"max_delay": timedelta.max},
        {"max_delay": -60},
        {"delay": "1"},
        {"factor": 0.5},
        {"factor": 1e300},
        {"factor": float("inf")},
        {"factor": float("nan")},
        {"factor": "2"},
        {"jitter": 2},
        {"jitter": float("nan")},
    ],
)
def test_a_retry_that_makes_no_sense_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(DefinitionRefused, match="of a Retry"):
        Retry(**options)


@pytest.mark.parametrize("value", [8e13, 1e300, timedelta.max, float("inf"), float("nan"), 10**400])
@pytest.mark.parametrize(
    ("name", "give"),
    [
        ("timeout", lambda app, value: app.command(timeout=value)(send)),
        ("per", lambda app, value: app.queue("mail", rate=1, per=value)),
        ("delay", lambda app, value: app.sync.enqueue("send", delay=value)),
    ],
)
def test_a_time_that_no_column_takes_is_refused(name: str, give: Callable[[App, Any], None], value: Any) -> None:
    refusal = RequestRefused if name == "delay" else DefinitionRefused
    with pytest.raises(refusal, match=f"{name}( of a queue)? is"):
        give(App("host=/nowhere"), value)


@pytest.mark.parametrize(
    ("give", "reason"),
    [
        (lambda: Retry(delay=-1), "delay of a Retry is -1 seconds, expected zero or more"),
        (lambda: Retry(delay=timedelta(seconds=-1)), "delay of a Retry is -(0:00:01), expected zero or more"),
        (lambda: App().command(timeout=-1), "timeout is -1 seconds, expected more than zero"),
        (lambda: App().command(timeout=0), "timeout is 0 seconds, expected more than zero"),
        (lambda: App().queue("mail", rate=1, per=-1.5), "per of a queue is -1.5 seconds, expected more than zero"),
        (lambda: Limit(rate=1, per=0), "per of a Limit is 0 seconds, expected more than zero"),
    ],
)
def test_a_span_is_named_as_it_was_given(give: Callable[[], object], reason: str) -> None:
    with pytest.raises(DefinitionRefused) as caught:
        give()
    assert str(caught.value) == reason


@pytest.mark.parametrize("name", ["concurrency", "max_depth", "max_running", "rate"])
def test_a_number_of_a_queue_that_no_column_takes_is_refused(name: str) -> None:
    with pytest.raises(DefinitionRefused, match=f"{name} of a queue is 2147483648, expected an integer from 1 to"):
        App("host=/nowhere").queue("mail", **{name: 2**31})  # type: ignore[arg-type]


@pytest.mark.parametrize("options", [{"max_running": 2**31}, {"rate": 2**31}, {"rate": 1, "per": timedelta.max}])
def test_a_limit_that_no_column_takes_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(DefinitionRefused, match="of a Limit is"):
        Limit(**options)


def test_a_join_gets_children_context_and_the_parameters_it_names() -> None:
    command = make(send)

    @command.join
    async def collect(where: Context, children: list[Child], to: str) -> int:
        return len(children)

    context = Context.local(is_join=True)
    assert command.join_fn is collect
    assert command.join_part is not None
    assert command.join_part.is_async
    bound = command.join_part.bind(context, [], {"to": "a", "body": "b"})
    assert bound == {"where": context, "children": [], "to": "a"}


def test_a_join_without_children_is_refused() -> None:
    def collect(to: str) -> None: ...

    with pytest.raises(DefinitionRefused, match="takes no parameter children"):
        make(send).join(collect)


def test_a_join_with_other_parameters_is_refused() -> None:
    def collect(children: list[Child], year: int) -> None: ...

    with pytest.raises(DefinitionRefused, match="takes year, which send does not take"):
        make(send).join(collect)


def test_a_second_join_is_refused() -> None:
    command = make(send)

    def collect(children: list[Child]) -> None: ...

    command.join(collect)
    with pytest.raises(DefinitionRefused, match="has a join already"):
        command.join(collect)


def test_an_app_refuses_a_second_command_of_the_same_name() -> None:
    app = App()
    app.command(send)
    with pytest.raises(DefinitionRefused, match="command send is defined twice"):
        app.command(name="send")(charge)


def test_an_app_lists_its_commands_and_queues() -> None:
    app = App(queue="rest")
    app.command(queue="mail")(send)
    app.command(charge)
    assert app.commands.names == ("send", "charge")
    assert app.commands.queues == ("mail", "rest")
    assert app.commands.get("send").options.queue == "mail"


def test_an_app_says_which_commands_it_has() -> None:
    app = App()
    app.command(send)
    with pytest.raises(CommandNotRegistered) as caught:
        app.commands.get("sent")
    assert caught.value.hint == "Did you mean send?"
    with pytest.raises(CommandNotRegistered) as caught:
        app.commands.get("charge")
    assert caught.value.hint == "It has: send."


def test_a_retry_without_a_second_attempt_is_refused() -> None:
    with pytest.raises(DefinitionRefused, match="retry= is given and max_attempts is 1") as caught:
        App().command(retry=Retry())
    assert caught.value.hint == "retry= needs max_attempts of 2 or more."


def test_the_times_of_a_retry_and_a_limit_can_be_given_in_seconds() -> None:
    assert Retry(delay=0.5, max_delay=9) == Retry(delay=timedelta(seconds=0.5), max_delay=timedelta(seconds=9))
    assert Limit(rate=1, per=60).per == timedelta(minutes=1)


def test_a_timeout_can_be_given_in_seconds() -> None:
    assert App().command(timeout=1.5)(send).options.timeout == timedelta(seconds=1.5)


def test_a_timeout_that_is_no_duration_is_refused() -> None:
    with pytest.raises(DefinitionRefused, match="timeout is 'soon'"):
        App().command(timeout="soon")  # type: ignore[call-overload]


def test_a_definition_has_what_the_registry_takes() -> None:
    app = App()
    command = app.command(
        queue="mail", max_attempts=3, retry=Retry(delay=timedelta(milliseconds=1)), timeout=2, dedup="to"
    )(send)

    @command.join
    def collect(children: list[Child]) -> None: ...

    (row,) = app.commands.definitions()
    assert (row["command"], row["queue"], row["max_attempts"], row["dedup"]) == ("send", "mail", 3, ["to"])
    assert (row["retry_delay"], row["timeout"]) == ("1000 microseconds", "2000000 microseconds")
    assert row["join_procedure"] == f"{__name__}:{collect.__qualname__}"
