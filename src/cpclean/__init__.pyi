# The public names and their homes: read by type checkers, and by lazy_loader at run time.

from .analysis.trust import trust as trust
from .classifier.forest import CertainForestClassifier as CertainForestClassifier
from .classifier.neighbors import CertainKNeighborsClassifier as CertainKNeighborsClassifier
from .cleaning.session import CleaningSession as CleaningSession
from .cleaning.simulation import simulate as simulate
from .data.between import Between as Between
from .data.domains import write_domains as write_domains
from .data.failed_checks import suspects_from_pandera as suspects_from_pandera
from .data.incomplete import Cell as Cell
from .data.incomplete import FactoredRow as FactoredRow
from .data.incomplete import IncompleteDataset as IncompleteDataset
from .data.points import Points as Points
from .data.spaces.leaf_space import LeafSpace as LeafSpace
from .data.streamed.streamed_table import StreamedTable as StreamedTable
from .data.table import IncompleteTable as IncompleteTable
from .errors import CPCleanError as CPCleanError
from .intake.reading import read_csv as read_csv
from .intake.reading import read_table as read_table
from .queries.certain import is_certain as is_certain
from .queries.certain import possible_labels as possible_labels
from .queries.gains import conditional_shares as conditional_shares
from .queries.gains import expected_entropies as expected_entropies
from .queries.near_scan import gather as gather
from .queries.shares import entropies as entropies
from .queries.shares import share_errors as share_errors
from .queries.shares import world_counts as world_counts
from .queries.shares import world_shares as world_shares
from .queries.sureness import is_sure as is_sure
from .queries.sureness import verdicts as verdicts

__version__: str
