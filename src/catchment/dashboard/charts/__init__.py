"""Charts as SVG, drawn on the server. Colours are classes of the stylesheet; large ones have a table behind them."""
