"""Facts about a table of which much is open, for advice about it."""

from cpclean.analysis.summary import Summary

FACTS = Summary(
    rows=100, columns=4, rows_with_holes=20, cells_missing=30, worlds="10^20.0", points=50,
    points_with_holes=0, certain=35, certain_share=0.7, mean_entropy=0.1, accuracy=0.8,
    majority=0.5, rows_that_help=12,
    first_rows=(4, 7, 9, 11), expected_fall=0.04, sure=0, open=15, sure_level=0.95,
    sure_share=0.7, settled=35, settled_share=0.7, until_sure=False,
)  # fmt: skip
