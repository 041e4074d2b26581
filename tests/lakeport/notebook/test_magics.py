"""A notebook that is run by a real kernel."""

from __future__ import annotations

import re

import nbformat
import pytest
from nbclient import NotebookClient

from tests.hms import why_not

pytestmark = [pytest.mark.slow, pytest.mark.spark]

SETUP = """
import pyarrow as pa, time
from connector_spi import SchemaTableName
session = get_ipython().magics_manager.registry["LakeportMagics"]._session
memory = session.catalogs.get("mem")
memory.create_table(SchemaTableName("s", "numbers"), pa.table({"n": [1, 2, 3, 4]}))
session.spark.udf.register("slow", lambda n: time.sleep(1) or str(n));
"""
CELLS = {
    "load": "%load_ext lakeport",
    "connect": "%lakeport --catalogs catalogs",
    "setup": SETUP,
    "table": "%%lakeport --rows 2\nSELECT n, concat('<', n, '>') AS t FROM mem.s.numbers\nORDER BY n DESC",
    "pandas": "r = %lakeport --format pandas SELECT sum(n) AS t FROM mem.s.numbers WHERE n > 1\nint(r['t'][0])",
    "polars": "%lakeport -o kept --format polars SELECT n FROM mem.s.numbers ORDER BY n",
    "kept": "kept['n'].to_list()",
    "result": "q = %lakeport SELECT count(*) AS c FROM mem.s.numbers\nq.to_arrow().to_pylist(), pa.table(q).num_rows",
    "arrow": "%lakeport -f arrow SHOW SCHEMAS IN mem",
    "no table": "%lakeport SELECT * FROM mem.s.numbres",
    "no option": "%lakeport --formta x SELECT 1",
    "slow": "%lakeport SELECT count(slow(id)) AS c FROM range(0, 4, 1, 4)",
    "no column": "%%lakeport\nSELECT 1;\nSELECT prise FROM mem.s.numbers",
    "session.sql": "session.sql('SELECT prise FROM mem.s.numbers')",
    "no row": "%lakeport SELECT 1 / n FROM VALUES (0) AS t(n)",
    "use": "%lakeport USE mem.s",
    "explain": "%lakeport EXPLAIN SELECT n FROM numbers",
    "two": "%%lakeport\nSELECT 'first' AS a; -- and\nSELECT 'second;' AS b;",
    "repr": "q = %lakeport --rows 2 SELECT n FROM numbers ORDER BY n\nprint(repr(q))",
    "session": "import lakeport as l\nmine = l.connect(catalogs='catalogs')\n%lakeport --session mine SELECT 1 AS one",
    "block": "with mine.transaction():\n    get_ipython().run_line_magic('lakeport', '-o x SELECT 2 AS two')\nx",
}


class Client(NotebookClient):  # type: ignore[misc]  # no types
    """Keeps what cells showed for a while, too."""

    shown: dict[int, list[str]]

    def process_message(self, msg: dict[str, object], cell: object, cell_index: int) -> object:
        if msg["msg_type"] in ("display_data", "update_display_data"):
            self.shown.setdefault(cell_index, []).append(str(msg["content"]))
        return super().process_message(msg, cell, cell_index)


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What each cell shows in the end, and of the slow one all that it showed."""
    reason = why_not()
    if reason is not None:
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("notebook")
    (folder / "catalogs").mkdir()
    (folder / "catalogs" / "mem.properties").write_text("connector.name=memory\n", encoding="utf-8")
    cells = [nbformat.v4.new_code_cell(source) for source in CELLS.values()]
    notebook = nbformat.v4.new_notebook(cells=cells)
    settings = {"timeout": 300, "kernel_name": "python3", "allow_errors": True}
    client = Client(notebook, resources={"metadata": {"path": str(folder)}}, **settings)
    client.shown = {}
    client.execute()
    found = {
        name: "\n".join(str(output) for output in cell.outputs)
        for name, cell in zip(CELLS, notebook.cells, strict=True)
    }
    found["bar"] = "\n".join(client.shown.get(list(CELLS).index("slow"), []))
    return found


def test_tables_are_html(outputs: dict[str, str]) -> None:
    assert outputs["load"] == ""
    assert "catalogs: mem" in outputs["connect"]
    assert "&lt;4&gt;" in outputs["table"]
    assert "first 2 rows, there are more" in outputs["table"]
    assert re.findall(r"&lt;(\d)&gt;", outputs["table"]) == ["4", "3"]


def test_results_go_to_libraries(outputs: dict[str, str]) -> None:
    assert "'text/plain': '9'" in outputs["pandas"]
    assert "<t" not in outputs["polars"]  # at most the bar that was there
    assert "[1, 2, 3, 4]" in outputs["kept"]
    assert "([{'c': 4}], 1)" in outputs["result"]
    assert "pyarrow.Table" in outputs["arrow"]


def test_errors_say_what_is_wrong(outputs: dict[str, str]) -> None:
    assert "did you mean numbers" in outputs["no table"]
    assert "--format" in outputs["no option"]


@pytest.mark.parametrize("cell", ["no table", "no column", "no row", "no option"])
def test_errors_are_short(outputs: dict[str, str], cell: str) -> None:
    """No frames of Python or Java, and no log of PySpark; nbformat shows a traceback as a list of lines."""
    assert "ast)" not in outputs[cell]
    assert "Traceback" not in outputs[cell].replace("'traceback'", "")
    assert "stacktrace" not in outputs[cell]
    assert "lakeport/notebook" not in outputs[cell]
    assert outputs[cell].count("\n") < 40


def test_an_error_shows_its_place(outputs: dict[str, str]) -> None:
    assert "line 2, column 8" in outputs["no column"]
    assert "did you mean 'n'?" in outputs["no column"]
    assert "DIVIDE_BY_ZERO" in outputs["no row"]


def test_errors_of_the_session_are_not_logged(outputs: dict[str, str]) -> None:
    assert "prise" in outputs["session.sql"]
    assert "SQLQueryContextLogger" not in outputs["session.sql"]
    assert "stderr" not in outputs["session.sql"]
    assert "pyspark/errors" not in outputs["session.sql"]


def test_statements_without_rows_show_none(outputs: dict[str, str]) -> None:
    assert "row" not in outputs["use"]
    assert "output_type': 'execute_result" not in outputs["use"]
    assert "error" not in outputs["use"]


def test_a_plan_keeps_its_lines(outputs: dict[str, str]) -> None:
    assert "\\nPlan\\n  Scan mem.s.numbers</pre>" in outputs["explain"]  # as Python shows it


def test_all_statements_of_a_cell_run(outputs: dict[str, str]) -> None:
    assert re.search(r"first.*second;", outputs["two"], re.DOTALL)


def test_a_result_is_a_table_in_a_terminal_too(outputs: dict[str, str]) -> None:
    assert " n\\n---\\n 1\\n 2\\n(first 2 rows, there are more)" in outputs["repr"]


def test_a_bar_is_there_while_the_query_runs(outputs: dict[str, str]) -> None:
    assert "<progress" in outputs["bar"]
    assert re.search(r"of \d+ tasks", outputs["bar"])
    assert "<progress" not in outputs["slow"]
    assert "<td" in outputs["slow"]


def test_sessions_of_the_notebook(outputs: dict[str, str]) -> None:
    assert "one" in outputs["session"]
    assert "two" in outputs["block"]
