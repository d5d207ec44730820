# The public names and their homes: read by type checkers, and by lazy_loader at run time.

from .page import Report as Report
from .page import report as report
from .plots import plot_certainty as plot_certainty
from .plots import plot_columns as plot_columns
from .plots import plot_gains as plot_gains
from .plots import plot_holes as plot_holes
from .plots import plot_shares as plot_shares
