"""What it means: facts, advice, reasons, rankings and forecasts. Nothing here draws."""
