"""Methods to compare with, earlier and later than those of the papers, as estimators like all others."""

from coterie.baselines.anchors import AnchorWords
from coterie.baselines.btm import BTM
from coterie.baselines.graph import GraphNMF
from coterie.baselines.gsdmm import GSDMM
from coterie.baselines.gsdmm_plus import GSDMMPlus
from coterie.baselines.kmeans import KMeansIdf
from coterie.baselines.lda import GibbsLDA
from coterie.baselines.orthogonal import OrthogonalNMF
from coterie.baselines.ptm import PTM
from coterie.baselines.rlsi import RLSI
from coterie.baselines.seanmf import SeaNMF
from coterie.baselines.symmetric import SymmetricNMF
from coterie.baselines.wcnmtf import WordCooccurrenceNMTF

__all__ = [
    "BTM",
    "GSDMM",
    "PTM",
    "RLSI",
    "AnchorWords",
    "GSDMMPlus",
    "GibbsLDA",
    "GraphNMF",
    "KMeansIdf",
    "OrthogonalNMF",
    "SeaNMF",
    "SymmetricNMF",
    "WordCooccurrenceNMTF",
]
