"""The data sets that the experiments need; they may be absent."""

from fixtures import dataset

__all__ = ["dataset"]
