# SPDX-License-Identifier: GPL-2.0-only
"""The notebooks run from the first cell to the last, and have no stored outputs."""

import ast
import json
import os
import sys
from pathlib import Path

import pytest
from selftests.lib.programs import TOP, run_program

NOTEBOOKS = sorted((TOP / "docs/notebooks").glob("*.ipynb"))

#: Executes cells, and shows the value of the last expression as a notebook does.
RUNNER = """
import ast, json, sys
names = {"__name__": "__main__"}
for source in json.load(sys.stdin):
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    if last:
        value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
        print(getattr(value, "_repr_svg_", value.__repr__)().splitlines()[0])
"""


def read_notebook_cells(notebook: Path) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads(notebook.read_text())["cells"]
    return found


def read_cell_code(notebook: Path) -> list[str]:
    return ["".join(cell["source"]) for cell in read_notebook_cells(notebook)  # type: ignore[arg-type]
            if cell["cell_type"] == "code"]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_has_no_outputs(notebook: Path) -> None:
    for cell in read_notebook_cells(notebook):
        assert cell["cell_type"] == "markdown" or (cell["outputs"], cell["execution_count"]) == (
            [], None)


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.in_turn
def test_a_notebook_runs(notebook: Path, tmp_path: Path) -> None:
    path = os.pathsep.join(str(TOP / folder) for folder in ("userspace/python", "trace-tools"))
    done = run_program(sys.executable, "-c", RUNNER,
                       stdin=json.dumps(read_cell_code(notebook)).encode(),
                       environment={"PYTHONPATH": path}, directory=tmp_path)
    # The runs of own-policy drift, as that notebook says; those of the others are in steady state.
    warned = {line for line in done.err.splitlines() if "SimulationWarning" in line}
    assert done.code == 0
    assert bool(warned) == (notebook.stem == "own-policy"), done.err
    shown = sum(isinstance(ast.parse(source).body[-1], ast.Expr) for source
                in read_cell_code(notebook))
    assert len(done.out.splitlines()) == shown
    if notebook.stem == "first-figure":
        assert (tmp_path / "write-p99.svg").exists()
    print(done.out)
