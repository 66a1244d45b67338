"""The errors by the codes of the engine."""

from __future__ import annotations

from collections.abc import Mapping

from catchment.errors import attempts, lake, requests
from catchment.errors.base import CatchmentError

BY_SQLSTATE: Mapping[str, type[CatchmentError]] = {
    "CM001": attempts.ClaimLost,
    "CM002": requests.CommandNotRegistered,
    "CM003": requests.QueueNotRegistered,
    "CM004": requests.PayloadRefused,
    "CM005": requests.ScopeClosed,
    "CM006": requests.TooDeep,
    "CM007": requests.WriteRefused,
    "CM008": requests.NotRetryable,
    "CM009": requests.TaskNotFound,
    "CM011": attempts.CancelRequested,
    "CM012": attempts.ProcedureMissing,
    "CM013": requests.NameTaken,
    "CM014": lake.TableExists,
    "CM015": lake.PublishVetoed,
    "CM016": requests.ScheduleRefused,
    "CM017": attempts.WorkerNotRegistered,
    "CM018": requests.OptionInvalid,
    "CM019": requests.ArgumentsInvalid,
    "CM020": requests.MergeRefused,
    "CM021": requests.ParentMissing,
    "CM022": requests.ScopePolicyFixed,
    "CM023": requests.ChildrenUnsettled,
    "CM024": requests.LimitRefused,
    "CM025": requests.NestedRun,
    "CM026": requests.TaskMerged,
    "CM027": requests.LaneNotHalted,
    "CM028": requests.InfoRefused,
    "CM029": lake.TableInUse,
    "CM030": lake.TableBusy,
    "CM031": lake.SourceSuspended,
    "CM036": requests.TransactionEndRefused,
    "CM040": requests.SnoozeRefused,
    "CM042": requests.OutsideHandler,
}
"""The class of each SQLSTATE that functions of the engine and of the lake raise. The first sentence of a class is what
its code means; every function that raises it says the same."""
