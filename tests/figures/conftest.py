from types import SimpleNamespace

import pytest
from figure_models import bikes, hostile_model

from coterie import TopicModel


@pytest.fixture(scope="session")
def fitted():
    """A model of some texts with dates, and another model of the same."""
    texts, dates = bikes(900)
    return SimpleNamespace(
        model=TopicModel().fit(texts), other=TopicModel(n_topics=6).fit(texts), dates=dates, texts=texts
    )


@pytest.fixture(scope="session")
def hostile(fitted):
    """A model whose topics have labels that nobody wants."""
    model, dates = hostile_model()
    return SimpleNamespace(model=model, other=fitted.other, dates=dates)
