"""Four data sets of credit and justice, from their public files, as the paper uses them: features in people's own
units with what may change, outcomes, and causes.

The files are looked for in the folder that `SUREFOOT_DATA` names, in `shared/data` beside the checkout, or where
`surefoot data fetch` puts them. The engine reads the same tables (`crates/surefoot-paper/src/data`).
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

import surefoot as sf

ROOT = Path(__file__).resolve().parents[1]


@dataclass
class Data:
    """A table of people, its favourable outcomes and its problem without a classifier."""

    people: pd.DataFrame
    favourable: np.ndarray
    features: list[sf.Feature]
    #: Causes by feature; without any, features are independent.
    graph: dict[str, list[str]] = field(default_factory=dict)


def file(*names: str) -> Path:
    if os.environ.get("SUREFOOT_DATA"):
        folders = [Path(os.environ["SUREFOOT_DATA"])]
    else:
        programs = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share")
        folders = [*(folder / "shared/data" for folder in (ROOT, *ROOT.parents)), programs / "surefoot"]
    found = next((folder / name for folder in folders for name in names if (folder / name).is_file()), None)
    if found is None:
        raise SystemExit(f"{names[0]} is missing; fetch it with `surefoot data fetch`")
    return found


def declared(
    people: pd.DataFrame, real: list[str], changes: dict[str, tuple[sf.Change, float, float]]
) -> list[sf.Feature]:
    """Real columns are standardised, all others are fixed codes; some may change, with limits."""
    features = []
    for name in people.columns:
        change, *limits = changes.get(name, ("fixed", -np.inf, np.inf))
        mean, std = (people[name].mean(), people[name].std()) if name in real else (0.0, 1.0)
        features.append(
            sf.Feature(name, change, mean=float(mean), std=float(std), limits=(limits[0], limits[1]))
        )
    return features


def adult() -> Data:
    columns = "age workclass fnlwgt education education-num marital job relationship race sex gain loss hours country income"
    table = pd.read_csv(
        file("adult.csv", "adult.data"), header=None, names=columns.split(), skipinitialspace=True
    )
    # The published table lacks the first person.
    table = table.iloc[1:]
    people = pd.DataFrame(
        {
            "isMale": table.sex == "Male",
            "age": table.age,
            "native-country-United-States": table.country == "United-States",
            "marital-status-Married": table.marital.str.startswith("Married"),
            "education-num": table["education-num"],
            "hours-per-week": table.hours,
        }
    ).astype(float)
    roots = ["isMale", "age", "native-country-United-States"]
    following = [*roots, "marital-status-Married"]
    return Data(
        people,
        (table.income == ">50K").to_numpy(),
        declared(
            people,
            ["age", "education-num", "hours-per-week"],
            {"education-num": ("increase", 1, 16), "hours-per-week": ("any", 0, 100)},
        ),
        {"marital-status-Married": roots, "education-num": following, "hours-per-week": following},
    )


def compas() -> Data:
    table = pd.read_csv(file("compas-scores-two-years.csv"))
    # ProPublica's filter.
    kept = table.days_b_screening_arrest.abs() <= 30
    kept &= (table.is_recid != -1) & (table.c_charge_degree != "O") & table.score_text.notna()
    table = table[kept]
    days = pd.to_datetime(table.c_jail_in).dt.normalize() - pd.to_datetime(table.dob)
    people = pd.DataFrame(
        {
            "age": days.dt.days / 365,
            "isMale": table.sex == "Male",
            "isCaucasian": table.race == "Caucasian",
            "priors_count": table.priors_count,
        }
    ).astype(float)
    return Data(
        people,
        (table.two_year_recid == 0).to_numpy(),
        declared(people, ["age", "priors_count"], {"priors_count": ("decrease", 0, np.inf)}),
        {"isCaucasian": ["age", "isMale"], "priors_count": ["age", "isMale", "isCaucasian"]},
    )


def german() -> Data:
    table = pd.read_csv(file("SouthGermanCredit.asc"), sep=" ")
    people = table.drop(columns="kredit").astype(float)
    changes: dict[str, tuple[sf.Change, float, float]] = dict.fromkeys(
        ("laufzeit", "hoehe"), ("any", 0, np.inf)
    )
    features = declared(people, ["laufzeit", "hoehe", "alter"], changes)
    return Data(people, (table.kredit == 1).to_numpy(), features)


def bail() -> Data:
    table = pd.read_csv(file("bail.csv"))
    # Rows of the third file are incomplete; -9 and 0 stand for unknown values.
    table = table[(table.FILE != 3) & (table.PRIORS != -9) & (table.SCHOOL != 0)]
    people = table.drop(columns=["RECID", "TIME", "FILE"]).astype(float)
    changes: dict[str, tuple[sf.Change, float, float]] = {
        "SCHOOL": ("increase", 1, 19),
        "RULE": ("decrease", 0, np.inf),
    }
    features = declared(people, ["PRIORS", "SCHOOL", "RULE", "AGE", "TSERVD", "FOLLOW"], changes)
    return Data(people, (table.RECID == 0).to_numpy(), features)


DATA = {"adult": adult, "compas": compas, "german": german, "bail": bail}
