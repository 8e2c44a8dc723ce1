"""What the papers compare their methods with, behind the same contract."""

from coterie.baselines.graph import GraphNMF
from coterie.baselines.kmeans import KMeansIdf
from coterie.baselines.lda import GibbsLDA
from coterie.baselines.orthogonal import OrthogonalNMF
from coterie.baselines.rlsi import RLSI
from coterie.baselines.symmetric import SymmetricNMF

__all__ = ["RLSI", "GibbsLDA", "GraphNMF", "KMeansIdf", "OrthogonalNMF", "SymmetricNMF"]
