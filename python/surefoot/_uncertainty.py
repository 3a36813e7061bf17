"""What is uncertain about a person, an action and a causal model, beside one ball."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Union

import numpy as np

from .errors import SettingError

__all__ = ["Uncertainty"]

Names = Union[str, Sequence[str]]


@dataclass(frozen=True)
class Uncertainty:
    """One statement about what is uncertain, as an ``[[uncertainty]]`` section of a problem file.

    Statements are made with the methods below. A feature that none of them is about shifts within the ball
        of the problem, whose size is ``epsilon``.

    Examples
    --------
    >>> import surefoot as sf
        >>> features = [
        ...     sf.Feature("income", "increase", mean=3000, std=1500),
        ...     sf.Feature("savings", "increase", mean=8000, std=4000),
        ...     sf.Feature("age", mean=40, std=10),
        ... ]
        >>> problem = sf.Problem(
        ...     features,
        ...     sf.Classifier.linear([0.8, 0.6, 0.2], -0.5),
        ...     epsilon=0.1,
        ...     uncertainty=[
        ...         sf.Uncertainty.interval("income", share=0.05),
        ...         sf.Uncertainty.exact("age"),
        ...     ],
        ... )
        >>> print(sf.recourse(problem, {"income": 2400, "savings": 6000, "age": 40})[0])  # doctest: +ELLIPSIS
        Raise income by ... This still works if circumstances shift a little: savings by up to 400; income by up to 5%, all of it at once. Taken as exact: age. ...
    """

    _section: str

    @classmethod
    def interval(
        cls,
        features: Names,
        *,
        share: float | None = None,
        within: float | None = None,
        between: tuple[float, float] | None = None,
    ) -> Uncertainty:
        """The value of each feature is in an interval, whatever the others are.

        Parameters
        ----------
        features : sequence of Feature
            The features.
        share : float, optional
            Up to this share of the reported value away from it.
        within : float, optional
            Up to this far away from the reported value, in the feature's own units.
        between : tuple[float, float, optional
            Between these two values, in the feature's own units.

        Returns
        -------
        Uncertainty
            The statement.

        Examples
        --------
        >>> debt = Uncertainty.interval("debt", within=500)
        >>> rent = Uncertainty.interval(["rent", "bills"], between=(300, 900))
        """
        limits = None if between is None else [float(end) for end in between]
        return cls._of("person", features=_names(features), share=share, within=within, between=limits)

    @classmethod
    def exact(cls, features: Names) -> Uncertainty:
        """The reported values of the features are exact.

        Parameters
        ----------
        features : sequence of Feature
            The features.

        Returns
        -------
        Uncertainty
            The statement.
        """
        return cls._of("person", features=_names(features), exact=True)

    @classmethod
    def ball(
        cls, features: Names, epsilon: float, norm: Literal["l1", "l2", "linf"] | None = None
    ) -> Uncertainty:
        """The features shift within a ball of their own, whatever the others do.

        Parameters
        ----------
        features : sequence of Feature
            The features.
        epsilon : float
            How far, in standard deviations.
        norm : {"l1", "l2", "linf"}, optional
            How the size of a shift is measured; by the norm of the problem unless given.

        Returns
        -------
        Uncertainty
            The statement.
        """
        return cls._of("person", features=_names(features), epsilon=epsilon, norm=norm)

    @classmethod
    def covariance(cls, features: Names, matrix: Any, epsilon: float | None = None) -> Uncertainty:
        """Features that go together shift together: their shifts are an ellipsoid instead of a ball.

        Parameters
        ----------
        features : sequence of Feature
            The features.
        matrix : table
            The covariance of the features in standardised units, such as their correlations. The shifts ``D``
            are those with ``D @ inv(matrix) @ D <= epsilon**2``.
        epsilon : float, optional
            The size, if it is not that of the problem; then these features have an ellipsoid of their own.

        Returns
        -------
        Uncertainty
            The statement.

        Examples
        --------
        >>> together = Uncertainty.covariance(["income", "savings"], [[1, 0.6], [0.6, 1]])
        """
        rows = np.asarray(matrix, dtype=float).tolist()
        norm = None if epsilon is None else "l2"
        return cls._of("person", features=_names(features), covariance=rows, epsilon=epsilon, norm=norm)

    @classmethod
    def execution(
        cls, features: Names | None = None, *, share: float | None = None, within: float | None = None
    ) -> Uncertainty:
        """Changes are carried out with an error.

        Parameters
        ----------
        features : Names, optional
            Those whose changes are meant; all unless given.
        share : float, optional
            The error as a share of the change.
        within : float, optional
            The error in the feature's own units.

        Returns
        -------
        Uncertainty
            The statement.
        """
        names = None if features is None else _names(features)
        return cls._of("execution", features=names, share=share, within=within)

    @classmethod
    def equation(
        cls,
        feature: str,
        *,
        band: float | None = None,
        within: float | Sequence[float] | None = None,
        parents: Names | None = None,
        inputs: Literal["standardised", "raw"] = "standardised",
    ) -> Uncertainty:
        """The equation of a feature is known up to an error.

        Parameters
        ----------
        feature : str
            The name of the feature.
        band : float, optional
            How far its function may be from the stated one, in standard deviations.
        within : float or sequence of float, optional
            The largest error of each coefficient: one number for all, or one for each.
        parents : Names, optional
            The causes whose coefficients are meant; all, in their order, unless given.
        inputs : {"standardised", "raw"}, default "standardised"
            The units of the coefficients.

        Returns
        -------
        Uncertainty
            The statement.
        """
        errors = within if within is None or isinstance(within, (int, float)) else [float(w) for w in within]
        causes = None if parents is None else _names(parents)
        return cls._of("equation", feature=feature, band=band, within=errors, parents=causes, inputs=inputs)

    @classmethod
    def weights(
        cls,
        *,
        within: float | None = None,
        share: float | None = None,
        covariance: Any = None,
        radius: float | None = None,
        probability: float | None = None,
        loss: float | None = None,
        least_loss: float | None = None,
        inputs: Literal["standardised", "raw"] | None = None,
    ) -> Uncertainty:
        """The weights of the classifier may be others, as after training anew.

        Parameters
        ----------
        within : float, optional
            Each weight by at most this.
        share : float, optional
            Each weight by at most this share of its size.
        covariance : table, optional
            Of all weights of a linear classifier, or of the last layer of a network, the intercept last: they
            lie in an ellipsoid, whose size is one of the next three.
        radius : float, optional
            Up to this many standard errors in each direction.
        probability : float, optional
            The weights are in it with this probability.
        loss : float, optional
            It holds all weights whose loss is at most this share above ``least_loss``, that of the
            classifier, where the covariance is the inverse Hessian of the loss.
        least_loss : float, optional
            The loss of the classifier, from which ``loss`` is counted.
        inputs : {"standardised", "raw"}, optional
            The units of the features whose weights the covariance is about.

        Returns
        -------
        Uncertainty
            The statement.

        Examples
        --------
        >>> errors = Uncertainty.weights(covariance=[[0.01, 0], [0, 0.04]], probability=0.95)
        """
        rows = None if covariance is None else np.asarray(covariance, dtype=float).tolist()
        return cls._of(
            "classifier", within=within, share=share, covariance=rows, radius=radius, probability=probability,
            loss=loss, least_loss=least_loss, inputs=inputs,
        )  # fmt: skip

    @classmethod
    def _of(cls, of: str, **fields: object) -> Uncertainty:
        given = {name: value for name, value in fields.items() if value is not None}
        try:
            return cls(json.dumps({"of": of, **given}, allow_nan=False))
        except (TypeError, ValueError) as error:
            raise SettingError(f"uncertainty: {error}") from None

    def __repr__(self) -> str:
        fields = json.loads(self._section)
        return f"Uncertainty({', '.join(f'{name}={value!r}' for name, value in fields.items())})"


def _names(features: Names) -> list[str]:
    return [features] if isinstance(features, str) else list(features)


def _sections(uncertainty: Sequence[Uncertainty]) -> str | None:
    """The list of sections in JSON; None if there are none."""
    stated = list(uncertainty)
    return f"[{', '.join(one._section for one in stated)}]" if stated else None
