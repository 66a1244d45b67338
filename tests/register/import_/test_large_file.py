"""A file of a gigabyte, from the command line into the register: long rows, of which a handful are broken."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.fixtures.register_driver import RegisterDatabase

SIZE = 1_000_000_000
# Long rows, so that it is the size of the file that counts and not how many units there are.
CELL = 6_000
HEADER = (
    "tax_ident,name,birth_date,physical_address_part1,physical_address_part2,physical_address_part3,"
    "physical_country_iso_2,employees\n"
)
BROKEN = {
    7: (b"7,too few\n", {"*": "the row has 2 fields, the header 8"}),
    500: (b"500,\xe6,,a,b,c,NO,1\n", {"*": "the row is not utf-8: byte 0xe6 at 5"}),
    20_000: (b"20000," + b"y" * 3_000_000 + b",,a,b,c,NO,1\n", {"*": "the row is longer than 1048576 bytes"}),
    20_001: (b"20001,,nonsense,a,b,c,NO,1\n", {"birth_date": "nonsense is not a day", "name": "a name is needed"}),
    30_000: (b'30000,"open,,a,b,c,NO,1\n', {"*": "a quote is not closed"}),
}
IMPORT = """
import sys
from pathlib import Path
from catchment_register.cli.main import app
def peak():
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])
before = peak()
app(sys.argv[1:], standalone_mode=False)
print("grown by", peak() - before)
"""


def write_file(file: Path) -> int:
    """Write rows until the file is large enough; returns how many there are."""
    words = "-".join(f"{n * 7919 % 100_003:05}" for n in range(CELL))
    number = 0
    with file.open("wb") as out:
        size = out.write(HEADER.encode())
        while size < SIZE:
            number += 1
            parts = ",".join(words[start : start + CELL] for start in (number % 997, number % 991, number % 983))
            row = f"{number},Unit {number},,{parts},NO,{number % 50}\n".encode()
            size += out.write(BROKEN[number][0] if number in BROKEN else row)
    return number


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_a_file_of_a_gigabyte_is_imported_in_constant_memory(reg_db: RegisterDatabase, tmp_path: Path) -> None:
    file = tmp_path / "units.csv"
    rows = write_file(file)
    assert file.stat().st_size >= SIZE
    arguments = ["import", str(file), "--kind", "legal_unit", "--valid-from", "2026-01-01", "--no-review"]
    done = subprocess.run(
        [sys.executable, "-c", IMPORT, *arguments, "--dsn", reg_db.dsn], capture_output=True, text=True, check=True
    )
    assert f"{rows} rows uploaded" in done.stdout
    # Nearly all of it is modules that the command loads: a file of three megabytes takes 35,000 KiB too.
    assert int(done.stdout.rsplit(maxsplit=1)[1]) < 50_000, done.stdout
    file.unlink()
    reg_db.conn.execute("call worker.drain('import')")
    (job,) = reg_db.rows("select id, state, imported_rows from register.import_job_progress")
    assert (job["state"], job["imported_rows"]) == ("finished", rows - len(BROKEN))
    assert reg_db.import_errors(job["id"]) == {number: told for number, (_, told) in BROKEN.items()}
    assert reg_db.import_warnings(job["id"]) == {}
    kept = "select count(*) from register.location where length(address_part1 || address_part2 || address_part3) = %s"
    assert reg_db.value(kept, 3 * CELL) == rows - len(BROKEN)
    reg_db.check()
