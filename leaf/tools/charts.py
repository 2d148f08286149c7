"""The tool that draws: make_chart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, Field, model_validator

from leaf.errors import InvalidInputError
from leaf.shapes import json_text
from leaf.shapes.results import ChartShown, ToldResult
from leaf.tables import chart_bounds, chart_rows, charts
from leaf.tables.paging import ResultPage, RowsWanted
from leaf.tables.results import edited_by_hand
from leaf.tools import remarks
from leaf.tools.base import Source, Tool, ToolContext, ToolOutput
from leaf.tools.table_data import place_of
from leaf.tools.tables import readings_of, run_query

ROWS_DRAWN = 5_000


class MakeChartInput(BaseModel):
    spec: dict[str, Any] = Field(
        description="Vega-Lite spec without data or URLs: mark, encoding, title. Fields are the "
        "result's columns."
    )
    result_id: str = Field("", title="Result", description="Result of query_tables (r1) to draw.")
    sql: str = Field("", description="Or a query to draw.")

    @model_validator(mode="before")
    @classmethod
    def parse_spec(cls, given: Any) -> Any:
        """Some models send the spec as JSON text."""
        if isinstance(given, dict) and isinstance(given.get("spec"), str):
            return {**given, "spec": json_text.read(given["spec"])}
        return given

    @model_validator(mode="after")
    def one_source(self) -> MakeChartInput:
        if bool(self.result_id) == bool(self.sql):
            raise ValueError("give either result_id or sql")
        return self


class ChartDrawn(ToldResult):
    chart: ChartShown


def make_chart(context: ToolContext, given: MakeChartInput) -> ToolOutput:
    """Check the spec against the columns of the result, and hand both to the page."""
    result_id = given.result_id
    sources: tuple[Source, ...] = ()
    readings: list[remarks.ReadTable] = []
    if given.sql:
        result = run_query(context, given.sql)
        result_id = result.result_id
        sources = tuple(
            Source(t.handle, t.file_id, t.file_name, place_of(t), "queried", query=given.sql)
            for t in result.tables
        )
        readings = readings_of(result)
    page: ResultPage = context.tables.results.page(
        context.scope,
        context.chat_id,
        result_id,
        RowsWanted(limit=ROWS_DRAWN),
        context.stop,
        turn="" if given.sql else context.turn,
    )
    if not page.rows:
        raise InvalidInputError(
            f"Result {result_id} has no rows to draw.", "Query something that has rows."
        )
    spec = charts.with_types(
        charts.check(given.spec, page.columns), dict(zip(page.columns, page.types, strict=True))
    )
    chart_bounds.check_rows(charts.walk(spec), page.columns, page.rows)
    cut = _left_out(page, spec)
    title = spec.get("title")
    name = title if isinstance(title, str) and title else f"a chart of {result_id}"
    notes = remarks.new(readings, context.hooks.told)
    by_hand = [edited_by_hand(result_id)] if page.edited and not given.sql else []
    return ToolOutput(
        "\n".join(
            [
                f"Chart drawn from {result_id} ({page.total:,} rows); the user sees it.{cut}",
                *by_hand,
                *notes.spoken,
            ]
        ),
        f"Drew {name}",
        sources=sources,
        coverage=tuple(remarks.coverage(r) for r in readings),
        data=ChartDrawn(
            **notes.to_json(),
            chart={
                "spec": spec,
                "columns": page.columns,
                "types": page.types,
                "rows": page.rows,
                "result_id": result_id,
                "total": page.total,
            },
        ),
    )


def _left_out(page: ResultPage, spec: Mapping[str, Any]) -> str:
    """What the model is told of rows that are not drawn; empty where all are."""
    cut = (
        f" Only the first {len(page.rows):,} of {page.total:,} rows are drawn."
        if page.total > len(page.rows)
        else ""
    )
    if undated := chart_rows.undated(spec, page.columns, page.rows):
        rows = f"{undated:,} row{'s' if undated != 1 else ''}"
        cut += f" Not drawn, for want of a date: {rows}."
    return cut


TOOLS = (
    Tool(
        "make_chart",
        "Draw a chart for the user from a query result. At most 5,000 rows are drawn, so "
        "aggregate first.",
        MakeChartInput,
        make_chart,
        "Drawing a chart",
        icon="bar_chart",
        counted=("chart", "charts"),
        result=ChartDrawn,
        repeatable=False,
        replay="chart",
    ),
)
