"""What certainty costs, and what stands in the way where there is no action."""

from __future__ import annotations

import numpy as np
import pytest

import surefoot as sf


@pytest.fixture
def limited() -> sf.Problem:
    feature = sf.Feature("income", "increase", mean=3000, std=1500, limits=(0, 4500))
    return sf.Problem([feature], sf.Classifier.linear([1.0]), epsilon=1.5)


def test_costs_rise_with_the_uncertainty(limited: sf.Problem) -> None:
    curve = sf.trade_off(limited, {"income": 2400}, [0.5, 0, 3], gap=0.05, max_evaluations=500)
    assert curve.column("status") == ["found", "found", "impossible"]
    costs = np.asarray(curve.column("cost"), dtype=float)
    np.testing.assert_allclose(costs, [0.9, 0.4, np.nan], atol=1e-6)
    assert curve.possible is not None
    assert curve.impossible is not None
    assert 0.98 < curve.possible <= 1 <= curve.impossible < 1.02
    assert len(sf.trade_off(limited, {"income": 2400})) == 12


def test_settings_are_those_of_recourse(limited: sf.Problem) -> None:
    for settings in ({"gap": 0.0}, {"gap": 1.0}, {"max_evaluations": 0}):
        with pytest.raises(sf.SettingError):
            sf.trade_off(limited, {"income": 2400}, [0], **settings)
    with pytest.raises(sf.Error):
        sf.trade_off(limited, {"income": 2400}, [-1])
    with pytest.raises(sf.PeopleError, match="there are 2 people"):
        sf.trade_off(limited, {"income": [2400, 2500]}, [0])


def test_whoever_has_no_action_is_told_why(limited: sf.Problem) -> None:
    [text] = sf.recourse(limited, {"income": 2400}).column("reason")
    assert text is not None
    assert "for shifts of up to 0.9999 standard deviations" in text
    assert "above its limit of 4500" in text
    assert sf.recourse(limited, {"income": 2400})[0].text == text
