"""Our columns: which ones a kind of file may have, which it must have, and where they are kept when uploaded.

Identifiers and statistics are columns too, named by the codes that the register has for them: ``tax_ident`` of the unit
itself, ``legal_unit_tax_ident`` of its legal unit, ``employees``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from psycopg import Connection

from catchment_register.errors import MappingRefused

DATES = ("valid_from", "valid_to")
_ABOUT = ("data_source_code", "edit_comment")
_UNIT = (
    *("name", "short_name", "birth_date", "death_date", "sector_code", "legal_form_code", "status_code"),
    *("unit_size_code", "primary_activity_category_code", "secondary_activity_category_code"),
    *(f"physical_address_part{n}" for n in (1, 2, 3)),
    *("physical_postcode", "physical_postplace", "physical_region_code", "physical_country_iso_2"),
    *("physical_latitude", "physical_longitude", "physical_altitude"),
    *(f"postal_address_part{n}" for n in (1, 2, 3)),
    *("postal_postcode", "postal_postplace", "postal_region_code", "postal_country_iso_2"),
    *("web_address", "email_address", "phone_number", "landline", "mobile_number", "fax_number", "tag_path"),
)
_RELATIONSHIP = ("rel_type_code", "percentage")
UPDATES = ("insert_or_update", "update_only")


@dataclass(frozen=True, slots=True)
class Kind:
    """What rows of a file are: their own columns, and the prefixes of the identifiers they have."""

    name: str
    texts: tuple[str, ...]
    # Array of the upload table -> prefix of its columns.
    idents: Mapping[str, str]
    has_stats: bool
    required: tuple[str, ...] = ()


KINDS: Mapping[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("legal_unit", _UNIT + _ABOUT, {"ident": ""}, True, ("name",)),
        Kind("establishment_formal", _UNIT + _ABOUT, {"ident": "", "owner_ident": "legal_unit_"}, True, ("name",)),
        Kind("establishment_informal", _UNIT + _ABOUT, {"ident": ""}, True, ("name",)),
        Kind("stats_update", _ABOUT, {"ident": ""}, True),
        Kind(
            "legal_relationship",
            _RELATIONSHIP + _ABOUT,
            {"owner_ident": "influencing_", "other_ident": "influenced_"},
            False,
            ("rel_type_code",),
        ),
    )
}


def find_kind(name: str) -> Kind:
    """The kind of this name, or ``MappingRefused`` with the names there are."""
    if name not in KINDS:
        raise MappingRefused(f"there is no kind of file {name!r}", hint=f"Choose one of {', '.join(KINDS)}.")
    return KINDS[name]


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of a kind in a register: with its types of identifiers and its statistics, in their order."""

    kind: Kind
    ident_types: tuple[str, ...]
    stats: tuple[str, ...]

    @property
    def arrays(self) -> dict[str, list[str]]:
        """Columns that are kept together, by the array they are kept in."""
        kept = {array: [prefix + code for code in self.ident_types] for array, prefix in self.kind.idents.items()}
        if self.kind.has_stats:
            kept["stat"] = list(self.stats)
        return kept

    @property
    def columns(self) -> set[str]:
        """All columns that a file of this kind may have."""
        return {*DATES, *self.kind.texts, *(c for columns in self.arrays.values() for c in columns)}

    def missing(self, present: Iterable[str], strategy: str | None = None) -> list[str]:
        """What a file with these columns lacks; one of several as ``a or b``. Updates may omit what is known."""
        have = set(present)
        updates = strategy in UPDATES
        lacking = [c for c in self.kind.required if c not in have and not (updates and c == "name")]
        for array, columns in self.arrays.items():
            optional = array == "stat" and self.kind.name != "stats_update"
            optional = optional or (updates and array == "owner_ident" and self.kind.name == "establishment_formal")
            if not optional and not have.intersection(columns):
                lacking.append(" or ".join(columns))
        if "valid_to" in have and "valid_from" not in have:
            lacking.append("valid_from")
        return lacking


def read_layout(conn: Connection[Any], kind: Kind) -> Layout:
    """The layout of a kind with what the register has now."""
    idents = conn.execute("select code from register.external_ident_type where enabled order by priority").fetchall()
    stats = conn.execute("select code from register.stat_definition where enabled order by priority").fetchall()
    return Layout(kind, tuple(r[0] for r in idents), tuple(r[0] for r in stats))
