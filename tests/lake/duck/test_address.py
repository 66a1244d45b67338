"""How a lake is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from catchment.errors import RequestRefused
from catchment.lake.duck.address import LakeAddress, default_address, find_address, is_remote, parse


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/data/lake", LakeAddress("/data/lake/")),
        ("/data/lake///", LakeAddress("/data/lake/")),
        ("/data/a;b=c/it's", LakeAddress("/data/a;b=c/it's/")),
        ("s3://bucket/lake", LakeAddress("s3://bucket/lake/")),
        ("data=/data/lake", LakeAddress("/data/lake/")),
        ("data=s3://b/l/;schema=meta", LakeAddress("s3://b/l/", "meta")),
        (
            "catalog=postgresql://u:p=w@host/db?a=b; data=/d ;schema=m",
            LakeAddress("/d/", "m", "postgresql://u:p=w@host/db?a=b"),
        ),
        ("schema=m;catalog=dbname=x user=y;data=/d", LakeAddress("/d/", "m", "dbname=x user=y")),
    ],
)
def test_an_address_is_a_path_or_has_parts(text: str, expected: LakeAddress) -> None:
    assert parse(text) == expected


def test_relative_paths_and_home_become_absolute(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert parse("lake").data_path == f"{tmp_path}/lake/"
    assert parse("~/lake").data_path == f"{tmp_path}/lake/"


@pytest.mark.parametrize("text", ["", "  ", "data=", "schema=m", "data=/d;data=/e", "data=/d;colour=red", "a\0b"])
def test_what_cannot_be_read_is_refused_with_the_form(text: str) -> None:
    with pytest.raises(RequestRefused) as raised:
        parse(text)
    assert "catalog=<dsn>;data=<path>;schema=<schema>" in (raised.value.hint or "")


def test_a_refusal_does_not_show_the_catalogs_password() -> None:
    with pytest.raises(RequestRefused) as raised:
        parse("catalog=postgresql://u:secret@h/db;schema=m")
    assert "secret" not in str(raised.value)


def test_the_default_is_a_folder_beside_the_embedded_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CATCHMENT_DATA", "/somewhere/pg")
    assert default_address() == LakeAddress("/somewhere/pg-lake/")


def test_what_is_given_comes_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CATCHMENT_LAKE", raising=False)
    assert find_address(None) is None
    monkeypatch.setenv("CATCHMENT_LAKE", "/b")
    assert find_address(None) == LakeAddress("/b/")
    assert find_address("/a") == LakeAddress("/a/")


def test_urls_are_remote() -> None:
    assert is_remote("s3://bucket/x")
    assert not is_remote("/s3:/bucket/x")
