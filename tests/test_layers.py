"""No package reaches into the private parts of another. Who may import whom is checked by import-linter."""

import ast
from collections import defaultdict
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "coterie"


def private(name):
    return name.startswith("_") and not name.startswith("__")


def package(path):
    """The room that a module is in: its folder, or itself at the top."""
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def trees(source=SOURCE):
    return [(path, ast.parse(path.read_text(encoding="utf-8"))) for path in sorted(source.rglob("*.py"))]


def defined(tree):
    """Private names that a module gives to classes, functions, attributes and variables."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id


def reaches(modules):
    """Uses of private names that another package defines, and this one does not."""
    homes = defaultdict(set)
    for path, tree in modules:
        for name in filter(private, defined(tree)):
            homes[name].add(package(path))
    for path, tree in modules:
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute):
                own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
                names = [] if own else [node.attr]
            elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("coterie"):
                names = [alias.name for alias in node.names]
            else:
                continue
            for name in filter(private, names):
                if homes[name] and package(path) not in homes[name]:
                    yield f"{path.relative_to(SOURCE)}:{node.lineno} uses {name} of {', '.join(homes[name])}"


@pytest.mark.slow
def test_no_package_uses_private_names_of_another():
    assert list(reaches(trees())) == []


@pytest.mark.slow
def test_a_reach_is_seen():
    modules = trees()
    path = SOURCE / "report" / "made_up.py"
    for line in ("model._history", "from coterie.topics.editing import _follow"):
        assert any("made_up" in reach for reach in reaches([*modules, (path, ast.parse(line))]))


def test_the_front_has_few_names():
    import coterie

    assert len(coterie.__all__) <= 12


def test_a_topic_model_has_few_methods():
    from sklearn.base import BaseEstimator, ClusterMixin, TransformerMixin

    from coterie import TopicModel

    inherited = {name for cls in (BaseEstimator, ClusterMixin, TransformerMixin) for name in dir(cls)}
    methods = [
        name
        for name in dir(TopicModel)
        if not name.startswith(("_", "set_"))
        and callable(getattr(TopicModel, name))
        and name not in inherited
    ]
    assert len(methods) <= 19, methods
