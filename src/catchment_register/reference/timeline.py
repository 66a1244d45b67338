"""Rows of units: for each stretch of time in which nothing about a unit changes, what it is and what it includes."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from catchment_register.reference.algebra import Summary, lift, merge
from catchment_register.reference.groups import Group, find_groups
from catchment_register.reference.load import Base, Unit
from catchment_register.reference.model import Row, UnitRow
from catchment_register.reference.spans import Span, clip, cut, enterprise_spans, latest, span, unit_spans

_LISTS = ("establishment", "legal_unit", "enterprise")
_CONTACT = ("web_address", "email_address", "phone_number", "landline", "mobile_number", "fax_number")
_ADDRESS = ("address_part1", "address_part2", "address_part3", "postcode", "postplace", "region_id", "country_id")
_PLACE = ("latitude", "longitude", "altitude")
_FROM_SLICE = ("birth_date", "death_date", "sector_id", "legal_form_id", "unit_size_id", "status_id")


def derive_units(base: Base) -> list[UnitRow]:
    """All rows of ``statistical_unit``."""
    rows: dict[Unit, list[UnitRow]] = {}
    for unit in base.units("establishment"):
        rows[unit] = list(_establishment(base, unit))
    for unit in base.units("legal_unit"):
        rows[unit] = list(_legal_unit(base, unit, _rows_of_parts(base, unit, rows)))
    for number, enterprise in base.enterprises.items():
        unit = ("enterprise", number)
        rows[unit] = list(_enterprise(base, enterprise, _rows_of_parts(base, unit, rows)))
    groups = [row for group in find_groups(base) for row in _power_group(base, group, rows)]
    return [row for some in rows.values() for row in some] + groups


def _establishment(base: Base, unit: Unit) -> Iterable[UnitRow]:
    for stretch in cut(unit_spans(base, unit)):
        own = _own(base, unit, stretch)
        if own is None:
            continue
        about, summary = own
        about["related_establishment_ids"] = [unit[1]]
        about["included_establishment_ids"] = [unit[1]] if about["used_for_counting"] else None
        about["has_legal_unit"] = about["related_legal_unit_ids"] is not None
        yield UnitRow(*unit, *stretch, about, summary)


def _legal_unit(base: Base, unit: Unit, establishments: list[UnitRow]) -> Iterable[UnitRow]:
    for stretch in cut(unit_spans(base, unit)):
        own = _own(base, unit, stretch)
        if own is None:
            continue
        about, summary = own
        here = [e for e in _during(establishments, stretch) if e.about["related_legal_unit_ids"] == [unit[1]]]
        about |= _lists("establishment", here)
        about["related_legal_unit_ids"] = [unit[1]]
        about["included_legal_unit_ids"] = [unit[1]] if about["used_for_counting"] else None
        about["has_legal_unit"] = True
        about["data_source_ids"] = _union([about["data_source_ids"], *(e.about["data_source_ids"] for e in here)])
        counted = [summary, *(e.summary for e in here if e.counts)] if about["used_for_counting"] else []
        yield UnitRow(*unit, *stretch, about, merge(counted))


def _enterprise(base: Base, enterprise: Row, parts: list[UnitRow]) -> Iterable[UnitRow]:
    number = enterprise["id"]
    for stretch in cut(enterprise_spans(base, number)):
        mine = [p for p in _during(parts, stretch) if p.about["related_enterprise_ids"] == [number]]
        if not mine:
            continue
        legal_units = [p for p in mine if p.unit_type == "legal_unit"]
        direct = [p for p in mine if p.unit_type == "establishment"]
        primary = [next((p for p in some if _is_primary(base, p)), None) for some in (legal_units, direct)]
        source = primary[0] or primary[1]
        about = _described(source, enterprise["short_name"] or None, enterprise)
        about |= _lists("legal_unit", legal_units)
        about |= _united(direct, legal_units)
        about["has_legal_unit"] = bool(legal_units)
        about["related_enterprise_ids"] = [number]
        about["included_enterprise_ids"] = [number] if about["used_for_counting"] else None
        about["primary_legal_unit_id"] = primary[0].unit_id if primary[0] else None
        about["primary_establishment_id"] = primary[1].unit_id if primary[1] else None
        counted = [p.summary for p in mine if p.counts] if about["used_for_counting"] else []
        yield UnitRow("enterprise", number, *stretch, about, merge(counted))


def _power_group(base: Base, group: Group, rows: dict[Unit, list[UnitRow]]) -> Iterable[UnitRow]:
    about_it = base.power_groups.get(group.number or 0)
    if about_it is None:
        return
    spans = [span(row) for row in (*group.relationships, *group.chosen)]
    for unit in group.units:
        mine = [span(r) for r in group.relationships if unit in (r["influencing_id"], r["influenced_id"])]
        spans += clip([Span(r.valid_from, r.valid_until) for r in rows.get(("legal_unit", unit), [])], mine)
    for stretch in cut(spans):
        members = [row for i in group.members(stretch) for row in _during(rows.get(("legal_unit", i), []), stretch)]
        if not members:
            continue
        root_id = group.root(stretch)
        root = next((row for row in members if row.unit_id == root_id), None)
        about = _described(root, about_it["short_name"] or about_it["name"] or None, about_it)
        counting = [m for m in members if m.counts]
        about |= _lists("legal_unit", members)
        about |= _united([], counting)
        about["has_legal_unit"] = True
        about["used_for_counting"] = True
        about["related_enterprise_ids"] = _union([m.about["related_enterprise_ids"] for m in members])
        about["included_enterprise_ids"] = _union([m.about["related_enterprise_ids"] for m in counting])
        about["primary_legal_unit_id"] = root_id
        yield UnitRow("power_group", about_it["id"], *stretch, about, merge(m.summary for m in counting))


def _own(base: Base, unit: Unit, stretch: Span) -> tuple[Row, Summary] | None:
    """What a unit says of itself in a stretch of time, or None where it does not exist."""
    slice_ = latest(base.slices[unit], stretch)
    if slice_ is None:
        return None
    primary, secondary = (_typed(base, unit, "activity", t, stretch) for t in ("primary", "secondary"))
    physical, postal = (_typed(base, unit, "location", t, stretch) for t in ("physical", "postal"))
    contact = latest(base.of("contact", unit), stretch) or {}
    stats = sorted((s for s in base.of("stat", unit) if latest([s], stretch)), key=lambda s: s["stat_definition_id"])
    edited = [slice_, primary, secondary, physical, postal, contact, *stats]
    about = _blank() | {c: slice_[c] for c in _FROM_SLICE} | {c: contact.get(c) for c in _CONTACT}
    about |= {f"physical_{c}": physical.get(c) for c in _ADDRESS + _PLACE}
    about |= {f"postal_{c}": postal.get(c) for c in _ADDRESS}
    about |= {
        "name": slice_["name"],
        "primary_activity_category_id": primary.get("category_id"),
        "secondary_activity_category_id": secondary.get("category_id"),
        "primary_activity_category_path": base.paths["activity"].get(primary.get("category_id", 0)),
        "secondary_activity_category_path": base.paths["activity"].get(secondary.get("category_id", 0)),
        "sector_path": base.paths["sector"].get(slice_["sector_id"]),
        "physical_region_path": base.paths["region"].get(physical.get("region_id", 0)),
        "used_for_counting": slice_["status_id"] in base.counting,
        "data_source_ids": _union(
            [[d] for r in (slice_, primary, secondary, physical, postal, *stats) if (d := r.get("data_source_id"))]
        ),
        "related_legal_unit_ids": _one(slice_.get("legal_unit_id")),
        "related_enterprise_ids": _one(slice_["enterprise_id"]),
        "stat_values": {str(s["stat_definition_id"]): _shown(_value(s)) for s in stats} or None,
    } | _edit(max((r for r in edited if r), key=lambda r: r["edit_at"]))
    return about, merge(lift(base.variables[s["stat_definition_id"]], _value(s)) for s in stats)


def _described(source: UnitRow | None, name: str | None, edited: Row) -> Row:
    """The columns of a unit that another one describes, unless it has its own name or a later edit."""
    about = _blank() if source is None else dict(source.about)
    about |= {f"{standing}_{kind}_ids": None for kind in _LISTS for standing in ("related", "excluded", "included")}
    about |= {"stat_values": None, "name": name or about["name"]}
    is_later = about["last_edit_at"] is None or edited["edit_at"] > about["last_edit_at"]
    return about | (_edit(edited) if is_later else {})


def _lists(kind: str, parts: list[UnitRow]) -> Row:
    ids = sorted(p.unit_id for p in parts)
    counting = {p.unit_id for p in parts if p.counts}
    return {
        f"related_{kind}_ids": ids or None,
        f"excluded_{kind}_ids": [i for i in ids if i not in counting] or None,
        f"included_{kind}_ids": [i for i in ids if i in counting] or None,
    }


def _united(direct: list[UnitRow], legal_units: list[UnitRow]) -> Row:
    """The lists of establishments of a larger unit: its own ones and those of its legal units."""
    own = _lists("establishment", direct)
    return {column: _union([ids, *(u.about[column] for u in legal_units)]) for column, ids in own.items()}


def _is_primary(base: Base, part: UnitRow) -> bool:
    slice_ = latest(base.slices[(part.unit_type, part.unit_id)], Span(part.valid_from, part.valid_until))
    return slice_ is not None and bool(slice_["primary_for_enterprise"])


def _during(rows: list[UnitRow], stretch: Span) -> list[UnitRow]:
    return [r for r in rows if r.valid_from <= stretch.valid_from and stretch.valid_until <= r.valid_until]


def _rows_of_parts(base: Base, unit: Unit, rows: dict[Unit, list[UnitRow]]) -> list[UnitRow]:
    return [row for part in base.parts.get(unit, []) for row in rows[part]]


def _typed(base: Base, unit: Unit, kind: str, type_: str, stretch: Span) -> Row:
    return latest((r for r in base.of(kind, unit) if r["type"] == type_), stretch) or {}


def _value(stat: Row) -> Any:
    return next(v for c in ("int", "float", "string", "bool") if (v := stat[f"value_{c}"]) is not None)


def _shown(value: Any) -> Any:
    """A value as json holds it."""
    return Decimal(repr(value)) if isinstance(value, float) else value


def _edit(row: Row) -> Row:
    return {f"last_edit_{c}": row[f"edit_{c}"] for c in ("at", "by", "comment")}


def _one(number: int | None) -> list[int] | None:
    return None if number is None else [number]


def _union(lists: Iterable[list[int] | None]) -> list[int] | None:
    return sorted({i for ids in lists for i in ids or []}) or None


def _blank() -> Row:
    """All columns, of a unit that nothing describes."""
    columns = [*_FROM_SLICE, *_CONTACT, "name", "data_source_ids", "last_edit_at", "last_edit_by", "last_edit_comment"]
    columns += [f"physical_{c}" for c in _ADDRESS + _PLACE] + [f"postal_{c}" for c in _ADDRESS]
    columns += [f"{which}_activity_category_{c}" for which in ("primary", "secondary") for c in ("id", "path")]
    columns += [f"{standing}_{kind}_ids" for kind in _LISTS for standing in ("related", "excluded", "included")]
    columns += [
        "sector_path",
        "physical_region_path",
        "primary_legal_unit_id",
        "primary_establishment_id",
        "stat_values",
    ]
    return dict.fromkeys(columns) | {"used_for_counting": False, "has_legal_unit": False}
