"""Every error the register raises, as one tree, and the SQLSTATEs that its functions raise.

RegisterError                 a CatchmentError
├── RegisterMismatch          the schema and this version do not fit; also a SchemaMismatch
├── SettingRefused            a setting has a value it cannot have
├── CodesRefused              a file of codes cannot be loaded
├── FileRefused               a file of units cannot be read
├── MappingRefused            the columns of a file do not fit its kind
├── ReportRefused             a report cannot be created
├── RuleBroken                a write violates a rule of the register and was rolled back
│   ├── OverlapRefused        RG001  two rows of one key are valid on the same day
│   ├── NotCovered            RG002  the unit that the row belongs to does not cover its period
│   ├── StillCovered          RG003  other rows depend on the row in that period
│   ├── UnknownCode           RG004  the code is not in its list
│   ├── CodeReserved          RG016  the code is a column of import files
│   ├── RowFixed              RG020  the row or column is fixed
│   ├── ValueRefused          RG017  the value does not fit its column
│   ├── RegionRefused         RG018  an address abroad cannot have a region
│   ├── TwoPrimaries          RG005  two units are primary at the same time
│   ├── PrimaryUndecided      RG019  several units could be the next primary one
│   ├── RootRefused           RG023  the root is not in its power group
│   ├── DeleteRefused         RG006  other rows refer to the row
│   ├── TruncateRefused       RG021  the table cannot be truncated
│   └── IsolationRefused      RG007  the transaction is not read committed
├── PeriodInvalid             RG022  the period is invalid
├── EditRefused               RG008  the edit is invalid
├── UnitNotFound              RG024  the identifier matches no unit or several
├── JobRefused                RG011  the import job is invalid
├── JobNotReady               RG012  the import job is in another state
├── JobNotFound               RG013  there is no such import job
├── RoundOpen                 RG014  another round is open
├── RoundBroken               RG009  the round is not open, or not at this stage
├── ReportInconsistent        RG015  a report does not agree with its units
└── StagingLost               RG010  staged rows were lost in a crash
"""

from __future__ import annotations

from pathlib import Path

from catchment import CatchmentError, SchemaMismatch


class RegisterError(CatchmentError):
    """Base of all errors of the register."""


class RegisterMismatch(RegisterError, SchemaMismatch):
    """The database has no register, or one that does not fit this version."""


class SettingRefused(RegisterError):
    """A setting does not exist, or its value is invalid."""


class CodesRefused(RegisterError):
    """A file of codes cannot be read, or does not have the columns of its kind."""


class FileRefused(RegisterError):
    """A file cannot be opened, or has no header. Nothing was imported."""


class MappingRefused(RegisterError):
    """A file lacks columns that its kind needs, or a mapping is invalid. Nothing was imported."""


class ReportRefused(RegisterError):
    """A report names something that does not exist, or cannot be drawn here."""


class RuleBroken(RegisterError):
    """Base of violations of rules between rows. The statement has changed nothing."""


class OverlapRefused(RuleBroken):
    """``RG001``: two rows of one key are valid on the same day. Shorten or delete the other row in the same statement,
    or edit only the part that changes."""


class NotCovered(RuleBroken):
    """``RG002``: the unit that the row belongs to does not cover its period. Create or
    extend that unit first, or shorten the row."""


class StillCovered(RuleBroken):
    """``RG003``: other rows depend on the row in that period. Shorten or delete those in the same statement or
    before."""


class UnknownCode(RuleBroken):
    """``RG004``: the code is not in its list. Add it first: ``catchment register load-codes``."""


class CodeReserved(RuleBroken):
    """``RG016``: the code is a column of import files. Choose another code for the statistic or identifier type."""


class RowFixed(RuleBroken):
    """``RG020``: the row or column is fixed. Disable a code and add another one: past units still refer to it."""


class ValueRefused(RuleBroken):
    """``RG017``: the value does not fit its column. The message has the value and what is expected."""


class RegionRefused(RuleBroken):
    """``RG018``: an address abroad cannot have a region. Remove the region in the same statement."""


class TwoPrimaries(RuleBroken):
    """``RG005``: two units are primary at the same time. Clear the flag of the other one for that time, in the same
    statement or before."""


class PrimaryUndecided(RuleBroken):
    """``RG019``: several units could be the next primary one. Choose it first: ``catchment register edit primary``."""


class RootRefused(RuleBroken):
    """``RG023``: the root is not in its power group. Choose a unit that a relationship of the group names."""


class DeleteRefused(RuleBroken):
    """``RG006``: other rows refer to the row. Delete or change those first."""


class TruncateRefused(RuleBroken):
    """``RG021``: the table cannot be truncated. Use DELETE, details before units."""


class IsolationRefused(RuleBroken):
    """``RG007``: the transaction is not read committed. Use read committed, the default: rules between rows are checked
    against what others have committed."""


class PeriodInvalid(RegisterError):
    """``RG022``: the period is invalid. Its first day must be before its end, and both must be in the years 1
    to 9999 or open."""


class EditRefused(RegisterError):
    """``RG008``: the edit is invalid. The message has the reason."""


class UnitNotFound(RegisterError):
    """``RG024``: the identifier matches no unit or several. Name the unit as ``tax_ident:123`` or
    ``legal_unit/17``."""


class JobRefused(RegisterError):
    """``RG011``: the import job is invalid. The message names the definition, date, strategy or column that does not
    fit."""


class JobNotReady(RegisterError):
    """``RG012``: the import job is in another state. The message has that state."""


class JobNotFound(RegisterError):
    """``RG013``: there is no such import job. It may have expired. Also: the job has no such batch."""


class RoundOpen(RegisterError):
    """``RG014``: another round is open. Wait until it has published."""


class RoundBroken(RegisterError):
    """``RG009``: the round is not open, or not at this stage. It is closed, and the next round collects its
    changes again."""


class ReportInconsistent(RegisterError):
    """``RG015``: a report does not agree with its units. Rebuild it: ``catchment register derive --full``."""


class StagingLost(RegisterError):
    """``RG010``: staged rows were lost in a crash. The round is closed, and the next round collects
    its changes again."""


BY_SQLSTATE: dict[str, type[RegisterError]] = {
    "RG001": OverlapRefused,
    "RG002": NotCovered,
    "RG003": StillCovered,
    "RG004": UnknownCode,
    "RG005": TwoPrimaries,
    "RG006": DeleteRefused,
    "RG007": IsolationRefused,
    "RG008": EditRefused,
    "RG009": RoundBroken,
    "RG010": StagingLost,
    "RG011": JobRefused,
    "RG012": JobNotReady,
    "RG013": JobNotFound,
    "RG014": RoundOpen,
    "RG015": ReportInconsistent,
    "RG016": CodeReserved,
    "RG017": ValueRefused,
    "RG018": RegionRefused,
    "RG019": PrimaryUndecided,
    "RG020": RowFixed,
    "RG021": TruncateRefused,
    "RG022": PeriodInvalid,
    "RG023": RootRefused,
    "RG024": UnitNotFound,
}
"""The class of each SQLSTATE that functions of the register raise. The first sentence of a class is what its code
means."""


def refuse(path: Path, reason: str, hint: str | None = None) -> FileRefused:
    """The error for a file of which nothing can be read."""
    return FileRefused(f"{path} cannot be read: {reason}", hint=hint)
