"""Where tests find the sample data, which are not part of the repository."""

from __future__ import annotations

from pathlib import Path

from tests.fixtures.register import find_shared


def test_sample_data_lie_beside_the_project_or_where_the_environment_says(tmp_path: Path) -> None:
    project, data = tmp_path / "work" / "main", tmp_path / "work" / "shared" / "data"
    project.mkdir(parents=True)
    assert find_shared(project, None) == data
    data.mkdir(parents=True)
    assert find_shared(project, None) == data
    assert find_shared(project / "copies" / "one", None) == data, "a worktree within the project"
    (tmp_path / "link").symlink_to(project)
    assert find_shared(tmp_path / "link", None) == data
    assert find_shared(project, "/elsewhere") == Path("/elsewhere")


def test_continuous_integration_names_the_sample_data() -> None:
    """So that the comparisons with them are not skipped there."""
    script = (Path(__file__).parents[2] / ".ci" / "run").read_text()
    assert "CATCHMENT_SHARED_DATA" in script
