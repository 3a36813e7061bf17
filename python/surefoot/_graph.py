"""Causal graphs from other packages and to them."""

from __future__ import annotations

import html
import itertools
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Union

from . import _engine
from .errors import CausalModelError, MissingPackageError

#: Causes by feature, or pairs of cause and effect, or a graph of networkx, pgmpy or DoWhy, or DOT, GML or lines.
Graph = Union[Mapping[str, Iterable[str]], Iterable[tuple[str, str]], Any]

__all__ = ["Graph", "read_graph", "write_graph"]

#: Endings of files of graphs.
ENDINGS = (".dot", ".gv", ".gml", ".graph", ".txt")


def causes_of(graph: Graph) -> dict[str, list[str]]:
    """Causes by feature, in the order in which effects are named."""
    if isinstance(graph, Mapping):
        return {str(effect): [str(cause) for cause in causes] for effect, causes in graph.items()}
    if isinstance(graph, (str, os.PathLike)):
        return read_graph(graph)
    if hasattr(graph, "get_graph_edges"):
        return _of_causal_learn(graph)
    graph = _inner(graph)
    if hasattr(graph, "is_directed") and not graph.is_directed():
        raise CausalModelError("the graph is not directed; give one whose edges lead from causes to effects")
    edges = getattr(graph, "edges", graph)
    causes: dict[str, list[str]] = {}
    for edge in edges() if callable(edges) else edges:
        if isinstance(edge, str) or len(edge) < 2:
            raise CausalModelError(f"{edge!r} is no pair of cause and effect, such as ('income', 'savings')")
        known = causes.setdefault(str(edge[1]), [])
        if str(edge[0]) not in known:
            known.append(str(edge[0]))
    return causes


def _inner(graph: Any) -> Any:
    """The networkx graph within a causal model of DoWhy."""
    # dowhy.CausalModel has `_graph`, a dowhy.causal_graph.CausalGraph; that, and models of dowhy.gcm, have one too.
    for name in ("_graph", "graph"):
        inner = getattr(graph, name, None)
        module = type(graph).__module__
        if module.startswith("dowhy") and inner is not None and not isinstance(inner, Mapping):
            return _without_unobserved(_inner(inner))
    return _without_unobserved(graph) if type(graph).__module__.startswith("networkx") else graph


def _without_unobserved(graph: Any) -> Any:
    """DoWhy marks nodes that nobody observes; such a cause of one feature alone is its noise."""
    nodes = getattr(graph, "nodes", None)
    if nodes is None or not hasattr(graph, "successors"):
        return graph
    hidden = [name for name in nodes if str(nodes[name].get("observed", "yes")) == "no"]
    for name in hidden:
        effects = sorted(str(effect) for effect in graph.successors(name))
        if len(effects) > 1:
            raise CausalModelError(
                f"`{name}` is not observed and causes {', '.join(effects)}: causes that these have in common and that "
                "nobody knows cannot be represented; observe it, or leave it out if it is negligible"
            )
    return graph.subgraph([name for name in nodes if name not in hidden]) if hidden else graph


def _of_causal_learn(graph: Any) -> dict[str, list[str]]:
    """A graph of causal-learn in which every edge has a direction."""
    causes: dict[str, list[str]] = {}
    for cause, effect, directed in _causal_learn_edges(graph):
        if not directed:
            raise CausalModelError(
                f"the edge between `{cause}` and `{effect}` has no direction: several graphs explain the data; "
                "sf.causal_graphs(graph) lists them, to guard against all of them"
            )
        causes.setdefault(effect, []).append(cause)
    return causes


def _causal_learn_edges(graph: Any) -> list[tuple[str, str, bool]]:
    edges = []
    for edge in graph.get_graph_edges():
        first, second = edge.get_node1().get_name(), edge.get_node2().get_name()
        ends = edge.get_endpoint1().name, edge.get_endpoint2().name
        if ends == ("TAIL", "ARROW"):
            edges.append((first, second, True))
        elif ends == ("ARROW", "TAIL"):
            edges.append((second, first, True))
        elif ends == ("TAIL", "TAIL"):
            edges.append((first, second, False))
        else:
            raise CausalModelError(
                f"the edge {edge} says that a cause in common may be hidden, which cannot be represented; "
                "use a method that assumes that there is none, such as PC or GES"
            )
    return edges


#: The most graphs of an equivalence class that are listed: a problem has at most 128 variants.
MOST_GRAPHS = 128


def causal_graphs(graph: Any, *, most: int = MOST_GRAPHS) -> list[dict[str, list[str]]]:
    """List every causal graph that an equivalence class contains, as PC and GES of causal-learn find it.

    Data alone often leave open which of two features causes the other. All graphs that explain the data alike have the
    same edges and the same pairs of causes that are not joined; these are listed, to be given as
    ``alternatives`` of a :class:`Problem`, so that answers hold whichever of them is right.

    Parameters
    ----------
    graph : GeneralGraph, CausalGraph or pair of lists
        What ``pc(...)`` or ``ges(...)`` of causal-learn returns, or its graph; or a pair of directed edges and
        of edges without a direction, both as pairs of names.
    most : int, default 128
        The most graphs that are accepted; more are an error.

    Returns
    -------
    list of dict
        The causes of each feature that has any, for each graph, as :meth:`CausalModel.fit` takes them.

    Raises
    ------
    CausalModelError
        If there are more than ``most``, or none.

    Examples
    --------
    >>> import surefoot as sf
    >>> for graph in sf.causal_graphs(([], [("age", "income"), ("income", "savings")])):
    ...     print(graph)
    {'income': ['age'], 'savings': ['income']}
    {'age': ['income'], 'savings': ['income']}
    {'age': ['income'], 'income': ['savings']}
    """
    if isinstance(graph, Mapping) and "G" in graph:
        # Of ges().
        graph = graph["G"]
    # Of pc().
    graph = getattr(graph, "G", graph)
    if hasattr(graph, "get_graph_edges"):
        edges = _causal_learn_edges(graph)
        directed = [(cause, effect) for cause, effect, known in edges if known]
        open_edges = [(cause, effect) for cause, effect, known in edges if not known]
    else:
        directed, open_edges = ([(str(a), str(b)) for a, b in part] for part in graph)
    joined = {frozenset(edge) for edge in directed + open_edges}
    colliders = _colliders(directed, joined)
    found: list[dict[str, list[str]]] = []
    for chosen in _orientations(open_edges, directed, colliders, joined):
        if len(found) == most:
            raise CausalModelError(
                f"more than {most} graphs explain the data alike; say which edges are known to have a direction"
            )
        causes: dict[str, list[str]] = {}
        for cause, effect in chosen:
            causes.setdefault(effect, []).append(cause)
        found.append({effect: sorted(causes[effect]) for effect in sorted(causes)})
    if not found:
        raise CausalModelError("no graph without a cycle has these edges and the same unjoined causes")
    return found


def _colliders(
    edges: Sequence[tuple[str, str]], joined: set[frozenset[str]]
) -> set[tuple[frozenset[str], str]]:
    """Pairs of causes that are not joined, with what both cause."""
    causes: dict[str, list[str]] = {}
    for cause, effect in edges:
        causes.setdefault(effect, []).append(cause)
    return {
        (frozenset(pair), effect)
        for effect, of_effect in causes.items()
        for pair in itertools.combinations(of_effect, 2)
        if frozenset(pair) not in joined
    }


def _orientations(
    waiting: Sequence[tuple[str, str]],
    edges: list[tuple[str, str]],
    colliders: set[tuple[frozenset[str], str]],
    joined: set[frozenset[str]],
) -> Iterable[list[tuple[str, str]]]:
    """Every way to give the waiting edges a direction that makes no cycle and no further collider."""
    if _has_cycle(edges) or not _colliders(edges, joined) <= colliders:
        return
    if not waiting:
        yield edges
        return
    (first, second), rest = waiting[0], waiting[1:]
    for edge in ((first, second), (second, first)):
        yield from _orientations(rest, [*edges, edge], colliders, joined)


def _has_cycle(edges: Sequence[tuple[str, str]]) -> bool:
    effects: dict[str, list[str]] = {}
    waiting: dict[str, int] = {}
    for cause, effect in edges:
        effects.setdefault(cause, []).append(effect)
        waiting.setdefault(cause, 0)
        waiting[effect] = waiting.get(effect, 0) + 1
    ready = [name for name, count in waiting.items() if count == 0]
    seen = 0
    while ready:
        seen += 1
        for effect in effects.get(ready.pop(), ()):
            waiting[effect] -= 1
            if waiting[effect] == 0:
                ready.append(effect)
    return seen < len(waiting)


def read_graph(graph: Union[str, os.PathLike[str]]) -> dict[str, list[str]]:
    """Read a causal graph in DOT, in GML, or in lines such as ``age, sex -> income``.

    Parameters
    ----------
    graph : str or path
        A file, or the text of a graph.

    Returns
    -------
    dict
        The causes of each feature that has any.

    Examples
    --------
    >>> import surefoot as sf
    >>> sf.read_graph("digraph { age -> income; income -> savings }")
    {'income': ['age'], 'savings': ['income']}
    """
    text = os.fspath(graph)
    if isinstance(graph, os.PathLike) or text.lower().endswith(ENDINGS):
        try:
            text = Path(text).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise CausalModelError(f"{graph}: cannot be read: {error}") from None
    return dict(_engine.parse_graph(text))


def write_graph(graph: Graph, path: Union[str, os.PathLike[str], None] = None, *, format: str = "dot") -> str:
    """Write a causal graph in DOT or GML.

    Parameters
    ----------
    graph : mapping, pairs or graph
        As :meth:`CausalModel.fit` takes it.
    path : path, optional
        The file to write.
    format : {"dot", "gml"}, default "dot"
        The language. That of a path is told by its ending, ``.gml`` or any other.

    Returns
    -------
    str
        The text.

    Examples
    --------
    >>> import surefoot as sf
    >>> print(sf.write_graph({"savings": ["income"]}), end="")
    digraph {
      "income" -> "savings";
    }
    """
    if path is not None and os.fspath(path).lower().endswith(".gml"):
        format = "gml"
    if format not in ("dot", "gml"):
        raise CausalModelError(f"there is no format `{format}` of graphs; there are `dot` and `gml`")
    causes = causes_of(graph)
    edges = [(cause, effect) for effect, each in causes.items() for cause in each]
    if format == "dot":

        def quoted(name: str) -> str:
            if '\\"' in name or name.endswith("\\"):
                raise CausalModelError(
                    f"DOT cannot quote the name `{name}`, in which a backslash ends a text; write GML"
                )
            return '"' + name.replace('"', '\\"') + '"'

        lines = [f"  {quoted(cause)} -> {quoted(effect)};" for cause, effect in edges]
        text = "\n".join(["digraph {", *lines, "}", ""])
    else:
        names = list(dict.fromkeys(name for edge in edges for name in edge))

        def entity(name: str) -> str:
            return html.escape(name).encode("ascii", "xmlcharrefreplace").decode()

        nodes = [f'  node [\n    id {i}\n    label "{entity(name)}"\n  ]' for i, name in enumerate(names)]
        links = [f"  edge [\n    source {names.index(a)}\n    target {names.index(b)}\n  ]" for a, b in edges]
        text = "\n".join(["graph [", "  directed 1", *nodes, *links, "]", ""])
    if path is not None:
        Path(path).write_text(text, encoding="utf-8")
    return text


def to_networkx(graph: Mapping[str, Iterable[str]], names: Iterable[str]) -> Any:
    """A networkx ``DiGraph`` over all features."""
    try:
        import networkx
    except ImportError:
        raise MissingPackageError("to_networkx needs networkx; pip install networkx") from None
    made = networkx.DiGraph()
    made.add_nodes_from(names)
    made.add_edges_from((cause, effect) for effect, causes in graph.items() for cause in causes)
    return made
