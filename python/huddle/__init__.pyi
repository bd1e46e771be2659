from . import datasets as datasets
from . import drop_in as drop_in
from . import metrics as metrics
from ._estimators import *
from ._estimators import load as load
from ._functions import ShrinkResult as ShrinkResult
from ._functions import knn_graph as knn_graph
from ._functions import shrink as shrink
from ._functions import spectral_embedding as spectral_embedding
from ._library import Cancelled as Cancelled
from ._library import HuddleError as HuddleError
from ._library import engines as engines
from ._patch import patch_sklearn as patch_sklearn
from ._patch import unpatch_sklearn as unpatch_sklearn
from ._path import ClusterPath as ClusterPath
from ._path import cluster_path as cluster_path
from ._processes import Processes as Processes
from ._processes import processes as processes
from ._read import Data as Data
from ._read import read as read
from ._refine import refine as refine
from ._report import report as report

__version__: str
