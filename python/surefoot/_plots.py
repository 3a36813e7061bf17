"""What pictures show: an answer, a trade-off, a causal graph, costs of groups, a margin over two features."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _engine, _tables
from ._picture import BLUE, GREEN, GREY, INK, LIGHT, ORANGE, Canvas, Picture, number, text_width, ticks
from .errors import PeopleError, SettingError

if TYPE_CHECKING:
    from ._answers import Answer, Answers
    from ._features import Feature
    from ._problem import Problem

__all__ = ["plot_margin"]


def ordered_names(answer: Answer) -> list[str]:
    """The features of an answer: those that are changed, those that follow, all others."""
    caused = [name for name in answer.person if name not in answer.action and is_caused(answer, name)]
    first = [name for name in answer.person if name in answer.action]
    rest = [name for name in answer.person if name not in first and name not in caused]
    return first + caused + rest


def is_caused(answer: Answer, name: str) -> bool:
    """Whether a feature that is not acted upon ends up with another value."""
    then, now = answer.counterfactual.get(name), answer.person[name]
    if then is None or name in answer.action:
        return False
    if isinstance(then, (int, float)) and isinstance(now, (int, float)):
        return abs(then - now) > 1e-9 * (abs(then) + abs(now))
    return bool(then != now)


def plot_answer(answer: Answer, features: Sequence[Feature]) -> Picture:
    """A row for each feature that changes, with its value now and then."""
    by_name = {feature.name: feature for feature in features}
    names = [name for name in ordered_names(answer) if name in answer.action or is_caused(answer, name)]
    left, right = 190.0, 560.0
    height = 64.0 + 46 * max(len(names), 1)
    canvas = Canvas(760, height, f"{answer.id}: {answer.status}")
    canvas.text(16, 26, f"{answer.id}: {answer.status}", size=15, weight="bold", room=400)
    if answer.cost is not None:
        canvas.text(744, 26, f"effort {number(answer.cost)} standard deviations", "end", colour=GREY)
    if not names:
        canvas.text(
            16,
            70,
            "Nothing changes." if answer.status == "favourable" else "There is no action.",
            colour=GREY,
        )
    for row, name in enumerate(names):
        y = 72.0 + 46 * row
        feature = by_name.get(name)
        colour = BLUE if name in answer.action else ORANGE
        label = (feature.label if feature is not None else None) or name
        canvas.text(16, y, label, weight="bold", room=left - 30)
        canvas.text(16, y + 15, "changed" if name in answer.action else "follows", size=11, colour=colour)
        now, then = answer.person[name], answer.counterfactual.get(name, answer.person[name])
        if isinstance(now, str) or isinstance(then, str) or feature is None:
            canvas.text(left, y + 4, str(now), room=160)
            canvas.line(left + 165, y, left + 205, y, colour, 2, arrow=True)
            canvas.text(left + 215, y + 4, str(then), room=160, colour=colour, weight="bold")
            continue
        low, high = _range(feature, now, then)

        def place(value: float, low: float = low, high: float = high) -> float:
            return left + (right - left) * (value - low) / (high - low)

        canvas.line(left, y, right, y, LIGHT, 6)
        canvas.text(left, y + 19, number(low), "middle", 10, GREY)
        canvas.text(right, y + 19, number(high), "middle", 10, GREY)
        length = abs(place(then) - place(now))
        canvas.line(place(now), y, place(then), y, colour, 3, arrow=length > 24)
        canvas.circle(place(now), y, 4, "white", colour)
        if length <= 24:
            canvas.circle(place(then), y, 4, colour)
        canvas.text(right + 24, y + 4, f"{number(now)} → {number(then)}", room=170)
    return canvas.picture()


def _range(feature: Feature, *values: float) -> tuple[float, float]:
    low, high = feature.limits or (-math.inf, math.inf)
    low = low if low is not None and math.isfinite(low) else min(feature.mean - 2 * feature.std, *values)
    high = high if high is not None and math.isfinite(high) else max(feature.mean + 2 * feature.std, *values)
    low, high = min(low, *values), max(high, *values)
    return (low, high) if high > low else (low - 1, high + 1)


def plot_trade_off(
    epsilons: NDArray[np.float64],
    costs: NDArray[np.float64],
    bounds: NDArray[np.float64],
    possible: float | None,
    impossible: float | None,
) -> Picture:
    """The cost over epsilon, the proven bound below it, and where no action is left."""
    order = np.argsort(epsilons)
    epsilons, costs, bounds = epsilons[order], costs[order], bounds[order]
    known = ~np.isnan(costs)
    canvas = Canvas(640, 400, "What certainty costs")
    furthest = max([float(epsilons[-1]), *(e for e in (possible, impossible) if e is not None)])
    top = max([0.0, *costs[known].tolist(), *bounds[~np.isnan(bounds)].tolist()]) or 1.0
    across = _axes(
        canvas, (70, 610), (340, 50), (0.0, furthest * 1.05 or 1.0), (0.0, top * 1.1),
        "epsilon: how far circumstances may shift, in standard deviations", "cost of the cheapest action that holds",
    )  # fmt: skip
    if impossible is not None and impossible <= furthest * 1.05:
        (x, low), (end, high) = across(impossible, 0.0), across(furthest * 1.05, top * 1.1)
        canvas.rectangle(x, high, end - x, low - high, ORANGE, opacity=0.15)
        canvas.line(x, low, x, high, ORANGE, 1.5, "4 3")
        canvas.text(x - 6, high + 14, "proven: no action from here on", "end", 11, ORANGE)
    if possible is not None:
        x, low = across(possible, 0.0)
        canvas.line(x, low, x, low - 8, GREEN, 3)
        canvas.text(x - 4, low - 12, "an action up to here", "end", 11, GREEN)
    both = known & ~np.isnan(bounds)
    if both.any():
        above = [across(e, c) for e, c in zip(epsilons[both], costs[both])]
        below = [across(e, b) for e, b in zip(epsilons[both], bounds[both])]
        canvas.path([*above, *reversed(below)], fill=BLUE, opacity=0.2, close=True)
        canvas.path(below, GREY, 1, dash="3 3")
    if known.any():
        line = [across(e, c) for e, c in zip(epsilons[known], costs[known])]
        canvas.path(line, BLUE, 2)
        for x, y in line:
            canvas.circle(x, y, 3.5, BLUE)
    canvas.text(70, 26, "What certainty costs", size=15, weight="bold")
    canvas.text(610, 26, "line: cost; dashed: proven lower bound", "end", 11, GREY)
    return canvas.picture()


def _axes(
    canvas: Canvas,
    x: tuple[float, float],
    y: tuple[float, float],
    x_range: tuple[float, float],
    y_range: tuple[float, float],
    x_label: str,
    y_label: str,
) -> Any:
    """Draws axes with ticks; the function from values to places."""

    def place(a: float, b: float) -> tuple[float, float]:
        return (
            x[0] + (x[1] - x[0]) * (a - x_range[0]) / (x_range[1] - x_range[0]),
            y[0] + (y[1] - y[0]) * (b - y_range[0]) / (y_range[1] - y_range[0]),
        )

    for tick in ticks(*x_range):
        at, _ = place(tick, y_range[0])
        canvas.line(at, y[0], at, y[1], LIGHT)
        canvas.text(at, y[0] + 18, number(tick), "middle", 11)
    for tick in ticks(*y_range):
        _, at = place(x_range[0], tick)
        canvas.line(x[0], at, x[1], at, LIGHT)
        canvas.text(x[0] - 8, at + 4, number(tick), "end", 11)
    canvas.line(x[0], y[0], x[1], y[0])
    canvas.line(x[0], y[0], x[0], y[1])
    canvas.text((x[0] + x[1]) / 2, y[0] + 42, x_label, "middle", room=x[1] - x[0])
    canvas.text(18, (y[0] + y[1]) / 2, y_label, "middle", turned=True, room=y[0] - y[1])
    return place


def plot_graph(graph: Mapping[str, Sequence[str]], features: Sequence[Feature]) -> Picture:
    """Causes to the left of their effects; features that may change are filled."""
    names = list(
        dict.fromkeys(
            [*(f.name for f in features), *graph, *(c for causes in graph.values() for c in causes)]
        )
    )
    named = {name for effect, causes in graph.items() for name in (effect, *causes)}
    names = [name for name in names if name in named]
    layer: dict[str, int] = {}

    def depth(name: str) -> int:
        if name not in layer:
            layer[name] = 1 + max((depth(cause) for cause in graph.get(name, ())), default=-1)
        return layer[name]

    for name in names:
        depth(name)
    columns: list[list[Any]] = [[] for _ in range(max(layer.values(), default=0) + 1)]
    for name in names:
        columns[layer[name]].append(name)
    # An edge over several columns goes through a place of its own in each.
    routes: list[list[Any]] = []
    for effect, causes in graph.items():
        for cause in causes:
            through = [(cause, effect, at) for at in range(layer[cause] + 1, layer[effect])]
            for at, stop in zip(range(layer[cause] + 1, layer[effect]), through):
                columns[at].append(stop)
            routes.append([cause, *through, effect])
    neighbours: dict[Any, list[Any]] = {}
    for route in routes:
        for before, after in zip(route, route[1:]):
            neighbours.setdefault(before, []).append(after)
            neighbours.setdefault(after, []).append(before)
    for sweep in range(8):
        position = {node: i / max(len(column) - 1, 1) for column in columns for i, node in enumerate(column)}
        for column in columns if sweep % 2 == 0 else columns[::-1]:
            centre = {
                node: float(np.mean([position[other] for other in neighbours.get(node, [node])]))
                for node in column
            }
            column.sort(key=lambda node: centre[node])
            position |= {node: i / max(len(column) - 1, 1) for i, node in enumerate(column)}
    wide = max([text_width(_label(name, features)) for name in names], default=60.0) + 24
    wide = min(wide, 190.0)
    tall = max((len(column) for column in columns), default=1)
    height = max(tall * 52.0, 90.0) + 60
    width = len(columns) * wide + (len(columns) - 1) * 70 + 40
    canvas = Canvas(max(width, 260.0), height, "Causal graph")
    canvas.text(20, 26, "Causal graph", size=15, weight="bold")
    places: dict[Any, tuple[float, float]] = {}
    for at, column in enumerate(columns):
        for i, node in enumerate(column):
            places[node] = (20 + at * (wide + 70), 50 + (height - 60) * (i + 0.5) / len(column))
    for route in routes:
        first, last = places[route[0]], places[route[-1]]
        points = [(first[0] + wide, first[1])]
        for stop in route[1:-1]:
            x, y = places[stop]
            points += [(x, y), (x + wide, y)]
        canvas.curve([*points, (last[0] - 1, last[1])], GREY)
    changing = {feature.name for feature in features if feature.change != "fixed"}
    for name in names:
        x, y = places[name]
        may = name in changing
        canvas.rectangle(x, y - 16, wide, 32, "#dbeafe" if may else "white", BLUE if may else GREY, 6)
        canvas.text(x + wide / 2, y + 4, _label(name, features), "middle", room=wide - 12)
    if changing & set(names):
        canvas.text(canvas.width - 20, 26, "filled: may be changed", "end", 11, GREY)
    return canvas.picture()


def _label(name: str, features: Sequence[Feature]) -> str:
    return (
        next((feature.label for feature in features if feature.name == name and feature.label), None) or name
    )


#: Dots of more people than this are not drawn; boxes are.
MOST_DOTS = 400


def plot_costs(answers: Answers, by: Any) -> Picture:
    """A row for each group: the costs of those who have an action, and how many have one."""
    statuses = list(answers.column("status"))
    costs = np.asarray(answers.column("cost"), dtype=np.float64)
    asked = np.array([status != "favourable" for status in statuses])
    labels = _groups(answers, by)
    if len(labels) != len(statuses):
        raise PeopleError(
            f"by has {len(labels)} values, and there are {len(statuses)} answers; give one for each"
        )
    groups = sorted({label for label, one in zip(labels, asked) if one})
    order = [label for feature in answers._features if feature.name == by for label in feature._labels]
    groups.sort(key=lambda label: order.index(label) if label in order else len(order))
    name = by if isinstance(by, str) else ""
    title = "Effort of those who are turned down" + (f", by {name}" if name else "")
    canvas = Canvas(760, 110 + 54 * max(len(groups), 1), title)
    canvas.text(20, 26, title, size=15, weight="bold", room=720)
    known = costs[asked & ~np.isnan(costs)]
    top = float(known.max()) * 1.05 if len(known) else 1.0
    left, right = 160.0, 590.0
    bottom = 56.0 + 54 * max(len(groups), 1)
    for tick in ticks(0, top or 1.0):
        x = left + (right - left) * tick / (top or 1.0)
        canvas.line(x, 46, x, bottom, LIGHT)
        canvas.text(x, bottom + 18, number(tick), "middle", 11)
    canvas.text((left + right) / 2, bottom + 40, "cost of the action, in standard deviations", "middle")
    for row, group in enumerate(groups):
        y = 74.0 + 54 * row
        mine = np.array([label == group for label in labels]) & asked
        of_group = np.sort(costs[mine & ~np.isnan(costs)])
        canvas.text(left - 14, y + 4, group, "end", room=left - 30, weight="bold")
        canvas.text(
            right + 14, y + 4, f"{len(of_group)} of {int(mine.sum())} have an action", size=11, room=150
        )
        places = [left + (right - left) * float(cost) / (top or 1.0) for cost in of_group]
        if 0 < len(places) <= MOST_DOTS:
            for i, x in enumerate(places):
                canvas.circle(x, y + 14 * ((i * 0.618034) % 1 - 0.5), 2.5, BLUE, opacity=0.35)
        if len(places) >= 4:
            low, middle, high = (float(np.quantile(places, share)) for share in (0.25, 0.5, 0.75))
            canvas.rectangle(low, y - 10, high - low, 20, "none", INK)
            canvas.line(middle, y - 10, middle, y + 10, ORANGE, 3)
    if not groups:
        canvas.text(left, 78, "Nobody is turned down.", colour=GREY)
    else:
        canvas.text(740, 44, "box: middle half, with the median", "end", 11, GREY)
    return canvas.picture()


def _groups(answers: Answers, by: Any) -> list[str]:
    if by is None:
        return ["everybody"] * len(answers)
    if not isinstance(by, str):
        return [_tables.label(value) for value in _tables.to_list(by)]
    names = [feature.name for feature in answers._features]
    if by not in names:
        raise PeopleError(
            f"by: `{by}` is no feature; there are {_tables.quoted(names)}; of other columns give the values themselves"
        )
    values = [answers._native.person(row)[by] for row in range(len(answers))]
    numeric = [float(value) for value in values if not isinstance(value, str)]
    if len(numeric) < len(values) or len(set(numeric)) <= 6:
        return [_tables.label(value) for value in values]
    edges = [float(np.quantile(numeric, share)) for share in (0, 0.25, 0.5, 0.75, 1)]
    parts = np.clip(np.searchsorted(edges[1:-1], numeric, side="right"), 0, 3)
    return [f"{part + 1}. {number(edges[part])} to {number(edges[part + 1])}" for part in parts]


#: Points of the grid on which the score is evaluated, in each direction.
GRID = 121


def plot_margin(
    problem: Problem,
    person: Any,
    answer: Answer | Answers | Any = None,
    *,
    features: tuple[str, str] | None = None,
) -> Picture:
    """Draw the decision over two features, with the action and the uncertainty that it is proven against.

    Favourable decisions are shaded, of somebody who is in all other features like the person after the action. The
    dotted outlines are the shifts of the two features that the problem guards against: around the person, and
    where the action leads them, through the causal model.

    Parameters
    ----------
    problem : Problem
        The problem.
    person : table of one person
        The person, as in :func:`recourse`.
    answer : Answer or Answers, optional
        The answer whose action is drawn; that of :func:`recourse` if not given.
    features : pair of str, optional
        The names of two numeric features. If not given, those that change most, in standard deviations.

    Returns
    -------
    Picture
        The picture.

    Examples
    --------
    >>> import surefoot as sf
    >>> features = [
    ...     sf.Feature("income", "increase", mean=3000, std=1500),
    ...     sf.Feature("savings", "increase", mean=8000, std=4000),
    ... ]
    >>> problem = sf.Problem(features, sf.Classifier.linear([0.8, 0.6], -0.5), epsilon=0.1)
    >>> sf.plot_margin(problem, {"income": 2400, "savings": 6000})
    <picture: Decision over income and savings>
    """
    from ._answers import Answer
    from ._verbs import Actions, recourse

    given = answer if answer is not None else recourse(problem, person)
    one = given if isinstance(given, Answer) else given[0]
    numeric = [feature for feature in problem.features if feature.kind not in ("category", "ordinal")]
    if features is None:
        change = {
            f.name: abs(one.counterfactual.get(f.name, one.person[f.name]) - one.person[f.name]) / f.std
            for f in numeric
        }
        ranked = sorted(numeric, key=lambda f: (-change[f.name], f.change == "fixed"))
        features = (ranked[0].name, ranked[1].name) if len(ranked) > 1 else None
    by_name = {feature.name: feature for feature in numeric}
    if features is None or len(set(features)) != 2 or any(name not in by_name for name in features):
        raise SettingError(
            f"name two different features with numbers; there are {_tables.quoted(list(by_name))}"
        )
    first, second = by_name[features[0]], by_name[features[1]]
    row = {name: [value] for name, value in one.person.items()}
    acted = None
    if one.action:
        changes = {f"action:{name}": [value] for name, value in one.action.items()}
        acted = Actions.from_changes(problem, changes)._native if _is_plain(problem, one) else None
    circle = [(math.cos(a), math.sin(a)) for a in np.linspace(0, 2 * math.pi, 72, endpoint=False)]
    source = _tables.prepare(row, problem.features).source
    around = _engine.shifted(problem._native, source, None, first.name, second.name, circle)
    beyond = None
    if acted is not None:
        beyond = _engine.shifted(problem._native, source, acted, first.name, second.name, circle)
    then = {**one.person, **one.counterfactual}
    ends = [
        (float(one.person[first.name]), float(one.person[second.name])),
        (float(then[first.name]), float(then[second.name])),
    ]
    seen = [*ends, *(around or []), *(beyond or [])]
    ranges = []
    for place, feature in enumerate((first, second)):
        values = [point[place] for point in seen]
        pad = max(max(values) - min(values), feature.std) * 0.35
        ranges.append((min(values) - pad, max(values) + pad))
    canvas = Canvas(680, 520, f"Decision over {first.name} and {second.name}")
    xs, ys = (np.linspace(*r, GRID) for r in ranges)
    table = {
        name: np.full(GRID * GRID, value) if not isinstance(value, str) else [value] * GRID * GRID
        for name, value in then.items()
    }
    across, up = np.meshgrid(xs, ys)
    table[first.name], table[second.name] = across.ravel(), up.ravel()
    scores = _grid_scores(problem, table).reshape(GRID, GRID)
    place = _axes(
        canvas,
        (80, 650),
        (450, 60),
        ranges[0],
        ranges[1],
        first.label or first.name,
        second.label or second.name,
    )
    _shade(
        canvas, place, xs, ys, scores, _crossings(problem, table, (first.name, second.name), xs, ys, scores)
    )
    if around:
        canvas.path([place(*point) for point in around], INK, 1.5, BLUE, 0.15, True, "2 3")
    if beyond:
        canvas.path([place(*point) for point in beyond], INK, 1.5, GREEN, 0.25, True, "2 3")
    start, end = place(*ends[0]), place(*ends[1])
    if one.action and start != end:
        canvas.line(start[0], start[1], end[0], end[1], BLUE, 2.5, arrow=True)
    canvas.circle(start[0], start[1], 5, "white", INK)
    canvas.text(80, 26, f"{one.id}: {one.status}", size=15, weight="bold", room=300)
    others = "" if len(problem.features) == 2 else "; all other features as after the action"
    canvas.text(650, 26, f"shaded: favourable{others}", "end", 11, GREY)
    canvas.text(650, 44, "dotted: shifts guarded against, before and after", "end", 11, GREY)
    return canvas.picture()


def _is_plain(problem: Problem, answer: Answer) -> bool:
    return all(not isinstance(value, str) for value in answer.action.values())


def _grid_scores(problem: Problem, table: Mapping[str, Any]) -> NDArray[np.float64]:
    """Scores on a grid, where values beyond limits are those at the limits."""
    held: dict[str, Any] = {}
    for feature in problem.features:
        values = table[feature.name]
        if feature.limits is not None and not isinstance(values, list):
            values = np.clip(values, *feature.limits)
        if feature.kind in ("integer", "binary") and not isinstance(values, list):
            values = np.round(values)
        held[feature.name] = values
    return problem.score(held)


#: Halvings by which a point of the boundary is found between two points of the grid.
HALVINGS = 20

#: How far along an edge of the grid the boundary is, by the place of its first point and whether it goes up.
Crossings = Mapping[tuple[int, int, bool], float]


def _crossings(
    problem: Problem,
    table: dict[str, Any],
    names: tuple[str, str],
    xs: NDArray[np.float64],
    ys: NDArray[np.float64],
    scores: NDArray[np.float64],
) -> Crossings:
    """Where the boundary crosses the edges of the grid: scores of trees jump, so that they say nothing of it."""
    favourable = scores >= 0
    edges = [(int(i), int(j), False) for i, j in np.argwhere(favourable[:, :-1] != favourable[:, 1:])]
    edges += [(int(i), int(j), True) for i, j in np.argwhere(favourable[:-1] != favourable[1:])]
    if not edges:
        return {}
    starts = np.array([favourable[i, j] for i, j, _ in edges])
    low, high = np.zeros(len(edges)), np.ones(len(edges))
    held = {name: value[0] for name, value in table.items()}
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        across = [
            xs[j] + (0 if up else share * (xs[j + 1] - xs[j])) for (_, j, up), share in zip(edges, middle)
        ]
        upwards = [
            ys[i] + (share * (ys[i + 1] - ys[i]) if up else 0) for (i, _, up), share in zip(edges, middle)
        ]
        points = {
            name: [value] * len(edges) if isinstance(value, str) else np.full(len(edges), value)
            for name, value in held.items()
        }
        points[names[0]], points[names[1]] = np.array(across), np.array(upwards)
        same = (_grid_scores(problem, points) >= 0) == starts
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return dict(zip(edges, ((low + high) / 2).tolist()))


def _shade(
    canvas: Canvas,
    place: Any,
    xs: NDArray[np.float64],
    ys: NDArray[np.float64],
    scores: NDArray[np.float64],
    crossings: Crossings,
) -> None:
    """Fills where the score is not negative, and draws the boundary."""
    favourable = scores >= 0
    for i in range(len(ys) - 1):
        # Whole cells side by side are one rectangle.
        whole = favourable[i, :-1] & favourable[i, 1:] & favourable[i + 1, :-1] & favourable[i + 1, 1:]
        edges = np.flatnonzero(np.diff(np.concatenate(([0], whole.astype(int), [0]))))
        for first, last in zip(edges[::2], edges[1::2]):
            (left, bottom), (right, top) = place(xs[first], ys[i]), place(xs[last], ys[i + 1])
            canvas.rectangle(left, top, right - left, bottom - top, GREEN, opacity=0.14)
        for j in np.flatnonzero(~whole):
            _shade_part(canvas, place, (xs, ys), (i, int(j)), favourable, crossings)


def _shade_part(
    canvas: Canvas,
    place: Any,
    grid: tuple[NDArray[np.float64], NDArray[np.float64]],
    cell: tuple[int, int],
    favourable: NDArray[np.bool_],
    crossings: Crossings,
) -> None:
    """Fills the favourable part of a cell."""
    xs, ys = grid
    i, j = cell
    corners = [(i, j), (i, j + 1), (i + 1, j + 1), (i + 1, j)]
    inside: list[tuple[float, float]] = []
    crossed: list[tuple[float, float]] = []
    for here, there in zip(corners, [*corners[1:], corners[0]]):
        if favourable[here]:
            inside.append((float(xs[here[1]]), float(ys[here[0]])))
        if favourable[here] != favourable[there]:
            (b, a), (d, c) = min(here, there), max(here, there)
            share = crossings[b, a, d > b]
            point = (float(xs[a] + share * (xs[c] - xs[a])), float(ys[b] + share * (ys[d] - ys[b])))
            inside.append(point)
            crossed.append(point)
    if len(inside) > 2:
        canvas.path([place(*point) for point in inside], fill=GREEN, opacity=0.14, close=True)
    for start, end in zip(crossed[::2], crossed[1::2]):
        (x1, y1), (x2, y2) = place(*start), place(*end)
        canvas.line(x1, y1, x2, y2, GREEN, 1.5)
