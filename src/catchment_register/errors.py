"""Every error the register raises, as one tree, and the SQLSTATEs that its functions raise.

RegisterError             a CatchmentError
├── RegisterMismatch      the schema and this version do not fit; also a SchemaMismatch
├── SettingRefused        a setting has a value it cannot have
├── CodesRefused          a file of codes cannot be loaded as asked
├── FileRefused           a file of units of which nothing can be read
├── MappingRefused        the columns of a file are not those of its kind
├── ReportRefused         a report cannot be made as asked
├── RuleBroken            a write that the rules of the register refuse; nothing has happened
│   ├── OverlapRefused    RG001  two rows of one key on the same day
│   ├── NotCovered        RG002  a row reaches beyond what it belongs to
│   ├── StillCovered      RG003  something that belongs to the row would be left uncovered
│   ├── UnknownCode       RG004  a code is in no list, a value of the wrong type
│   ├── TwoPrimaries      RG005  two primary units of one owner at once
│   ├── DeleteRefused     RG006  a row that others rely on
│   └── IsolationRefused  RG007  an isolation level in which rules cannot be checked
├── JobRefused            RG008  an import job or an edit cannot do what was asked
├── RoundBroken           RG009  a stage without the one before it; the round is given back
└── StagingLost           RG010  staged rows went with a crash of the server; the round is given back
"""

from __future__ import annotations

from pathlib import Path

from catchment import CatchmentError, SchemaMismatch


class RegisterError(CatchmentError):
    """Base of all errors of the register."""


class RegisterMismatch(RegisterError, SchemaMismatch):
    """The register in the database and this version do not fit, or there is none."""


class SettingRefused(RegisterError):
    """A setting does not exist, or cannot have this value."""


class CodesRefused(RegisterError):
    """A file of codes cannot be read, or does not have the columns of its kind."""


class FileRefused(RegisterError):
    """A file cannot be opened, or has no header. Nothing has happened."""


class MappingRefused(RegisterError):
    """The columns of a file do not give what its kind needs, or a mapping is not one. Nothing has happened."""


class ReportRefused(RegisterError):
    """A report names something that does not exist, or cannot be drawn here."""


class RuleBroken(RegisterError):
    """Base of what the rules between rows refuse. The statement has changed nothing."""


class OverlapRefused(RuleBroken):
    """``RG001``: two rows of one key would be valid on the same day."""


class NotCovered(RuleBroken):
    """``RG002``: what a row belongs to is missing, or not there for all of the row's time."""


class StillCovered(RuleBroken):
    """``RG003``: a unit cannot be shortened or deleted while something that belongs to it needs that time."""


class UnknownCode(RuleBroken):
    """``RG004``: a code is not in its list or cannot be in it, or a value does not fit its variable."""


class TwoPrimaries(RuleBroken):
    """``RG005``: two units would be primary for the same one at the same time."""


class DeleteRefused(RuleBroken):
    """``RG006``: a code, or a row that others name, cannot go."""


class IsolationRefused(RuleBroken):
    """``RG007``: the register is written in read committed transactions only."""


class JobRefused(RegisterError):
    """``RG008``: an import job or an edit cannot do what was asked."""


class RoundBroken(RegisterError):
    """``RG009``: a stage of a round found that the one before it did not finish."""


class StagingLost(RegisterError):
    """``RG010``: rows that were staged are gone, as after a crash of the server."""


BY_SQLSTATE: dict[str, type[RegisterError]] = {
    "RG001": OverlapRefused,
    "RG002": NotCovered,
    "RG003": StillCovered,
    "RG004": UnknownCode,
    "RG005": TwoPrimaries,
    "RG006": DeleteRefused,
    "RG007": IsolationRefused,
    "RG008": JobRefused,
    "RG009": RoundBroken,
    "RG010": StagingLost,
}


def refuse(path: Path, reason: str, hint: str | None = None) -> FileRefused:
    """The error for a file of which nothing can be read."""
    return FileRefused(f"{path} cannot be read: {reason}", hint=hint)
