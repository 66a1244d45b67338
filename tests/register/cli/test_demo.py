"""The demo of the register: the whole story, on a server of its own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.fixtures.register import Cli, run_cli
from tests.fixtures.register_driver import RegisterDatabase


@pytest.mark.long
def test_demo_imports_derives_edits_and_leaves_nothing(tmp_path: Path) -> None:
    said = run_cli(None, "register", "demo", "--legal-units", "60", TMPDIR=str(tmp_path)).stdout
    assert re.search(r"legal_units.csv: (\d+) of \1 rows imported, 0 with errors", said)
    assert re.search(r"hires 100: published [\d,]+ ms after the commit", said)
    # The establishment, its enterprise, its region, the country by month and by year.
    changes = [(int(one), int(other)) for one, other in re.findall(r"^(?:the|its|all) .* (\d+) +(\d+)$", said, re.M)]
    assert [other - one for one, other in changes] == [100] * 5
    assert "No rule of the register is broken" in said
    assert list(tmp_path.glob("catchment-demo-*")) == []


def test_demo_does_not_touch_a_register_that_is_in_use(reg_db: RegisterDatabase, reg_cli: Cli) -> None:
    reg_db.lu("823573673", "2026-01-01")
    refused = reg_cli("demo", code=1)
    assert "has a register with units in it" in refused.stderr
    assert reg_db.value("select count(*) from register.legal_unit") == 1
