"""What notebooks show of problems and answers."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ._picture import number

if TYPE_CHECKING:
    from ._answers import Answer, Answers
    from ._causal import CausalModel
    from ._problem import Problem

#: Rows of a table of answers that are shown.
SHOWN = 20


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; cells are HTML already."""
    titles = "".join(f"<th>{html.escape(title)}</th>" for title in head)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>"


def value(given: Any) -> str:
    """A value of a person as a cell."""
    if given is None:
        return ""
    return html.escape(number(given) if isinstance(given, float) else str(given))


def answer_html(answer: Answer) -> str:
    """One person: what is changed, what follows, and then everything else."""
    from ._plots import is_caused, ordered_names

    rows = []
    for name in ordered_names(answer):
        is_changed = name in answer.action
        change = answer.action.get(name)
        told = f"{change:+.6g}" if isinstance(change, float) else value(change)
        if is_caused(answer, name):
            told = "follows"
        cells = [html.escape(name), value(answer.person[name]), told, value(answer.counterfactual.get(name))]
        mark = "strong" if is_changed else "em" if is_caused(answer, name) else ""
        rows.append([f"<{mark}>{cell}</{mark}>" if mark and cell else cell for cell in cells])
    return (
        f"<p><strong>{html.escape(answer.id)}: {html.escape(answer.status)}</strong></p>"
        f"<p>{html.escape(answer.text)}</p>{table(['', 'now', 'change', 'then'], rows)}"
    )


def answers_html(answers: Answers) -> str:
    """Counts, and what the first people change."""
    rows = []
    for answer in answers[:SHOWN]:
        changes = ", ".join(
            f"<strong>{html.escape(name)}</strong> {value(answer.person[name])} → "
            f"{value(answer.counterfactual.get(name, answer.person[name]))}"
            for name in answer.action
        )
        cost = "" if answer.cost is None else number(answer.cost)
        bound = "" if answer.cost_bound is None else number(answer.cost_bound)
        rows.append([html.escape(answer.id), html.escape(answer.status), changes, cost, bound])
    counts = ", ".join(f"{count} {word}" for word, count in answers.counts.items() if count)
    more = f"<p>and {len(answers) - SHOWN} more</p>" if len(answers) > SHOWN else ""
    return f"<p><strong>{len(answers)} answers:</strong> {counts}</p>" + (
        table(["id", "status", "changes", "cost", "cost at least"], rows) + more
    )


def problem_html(problem: Problem) -> str:
    """Features, those that may change first, and how much is guarded against."""
    graph = problem.graph
    rows = []
    for feature in sorted(problem.features, key=lambda feature: feature.change == "fixed"):
        ends = feature.limits or ()
        limits = " to ".join(number(float(end)) for end in ends if end is not None)
        name = html.escape(feature.label or feature.name)
        rows.append(
            [
                name if feature.change == "fixed" else f"<strong>{name}</strong>",
                feature.change,
                feature.kind,
                number(feature.mean),
                number(feature.std),
                limits,
                html.escape(", ".join(graph.get(feature.name, []))),
            ]
        )
    head = ["feature", "change", "kind", "mean", "std", "limits", "follows from"]
    return f"<p><strong>Problem</strong>, epsilon {number(problem.epsilon)}</p>{table(head, rows)}"


def causal_model_html(model: CausalModel) -> str:
    """The graph and the equations."""
    fitted = {each.feature: each for each in model.fitted}
    rows = []
    for name, equation in model.equations.items():
        r_squared = f"{fitted[name].r_squared:.3f}" if name in fitted else ""
        causes = ", ".join(model.parents(name))
        rows.append([html.escape(name), html.escape(causes), html.escape(repr(equation)), r_squared])
    return model.plot().svg + table(["feature", "follows from", "equation", "R²"], rows)
