"""Charts as SVG, drawn on the server. Colours are classes of the stylesheet; large ones have a table behind them."""

from catchment.dashboard.charts.svg import element, nice_top, number, path, table

__all__ = ["element", "nice_top", "number", "path", "table"]
