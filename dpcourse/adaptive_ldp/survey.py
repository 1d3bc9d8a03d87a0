"""AdOBEst-LDP as an object for a real survey: ask for the next person's mechanism, tell what came back.

    survey = AdaptiveSurvey(20, epsilon=1)
    mechanism = survey.ask()                  # send this to the next person ...
    survey.tell(report)                       # ... who runs mechanism.release(x) and sends back only the report
    survey.estimate()                         # the posterior mean of the shares

The survey never sees a raw value. Each mechanism depends on earlier reports only, so everybody who answers once is
protected with epsilon, whatever the others said. A person can check what she was sent: mechanism.guarantee. Nobody is
to be asked twice, also not when a report got lost: every answer costs epsilon.
"""

from __future__ import annotations

import copy
import json
import os
import secrets
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from dpcourse import checks
from dpcourse.adaptive_ldp.langevin import MINIBATCH, Langevin, chi_square
from dpcourse.adaptive_ldp.rrrr import RestrictedResponse
from dpcourse.adaptive_ldp.rrrr_columns import SHARE, first_epsilons
from dpcourse.adaptive_ldp.subsets import best_subset, semi_adaptive_subset
from dpcourse.adaptive_ldp.utilities import UTILITIES
from dpcourse.interrupts import uninterrupted
from dpcourse.randomness import Rng

UPDATES = 20  # Langevin updates for each arrival, as in the talk
FORMAT = "dpcourse adaptive survey, format 1"


class AdaptiveSurvey:
    """A survey of k categories. Subsets are the best for ``utility``, or hold ``alpha`` of the probability.

    ``share`` is eps1/eps (all of it where a single category is outside the subset), ``prior`` the Dirichlet's rho.
    """

    def __init__(
        self, k: int, epsilon: float, *, utility: str = "honest", alpha: float | None = None, share: float = SHARE,
        prior: float = 1.0, updates: int = UPDATES, minibatch: int = MINIBATCH, rng: Rng = None,
    ) -> None:  # fmt: skip
        self.k, self._epsilon = checks.whole_number("k", k, at_least=2), checks.positive("epsilon", epsilon)
        self.utility = checks.one_of("utility", utility, list(UTILITIES))
        self.alpha = None if alpha is None else checks.probability("alpha", alpha)
        self.share = checks.fraction_of_one("share", share)
        self.updates = checks.whole_number("updates", updates)
        self._firsts = first_epsilons(self.k, self.epsilon, self.share)
        self._chain = Langevin(
            1, self.k, information=chi_square(self.k, self.epsilon), prior=prior, minibatch=minibatch, rng=rng
        )
        self._asked: RestrictedResponse | None = None
        self._told: list[tuple[tuple[int, ...], int]] = []
        self._name = secrets.token_hex(8)

    @property
    def epsilon(self) -> float:
        """What everybody was promised: it cannot be changed on the way."""
        return self._epsilon

    @property
    def history(self) -> list[tuple[tuple[int, ...], int]]:
        """The subset and the report of everybody so far, in their order."""
        return list(self._told)

    @property
    def sample(self) -> np.ndarray:
        """The present sample of the shares, by which the next subset is chosen."""
        return self._chain.theta[0]

    def ask(self) -> RestrictedResponse:
        """The mechanism for the next person; the same one until a report is told."""
        if self._asked is None:
            if self.alpha is None:
                subset = best_subset(self.sample, self.epsilon, self._firsts, self.utility)
            else:
                subset = semi_adaptive_subset(self.sample, self.alpha)
            first = float(self._firsts[len(subset)])
            self._asked = RestrictedResponse(self.k, subset, epsilon=self.epsilon, first=first)
        return self._asked

    def tell(self, report: Any) -> None:
        """What the person who was asked reported: a category 0..k-1."""
        if self._asked is None:
            raise ValueError(f"ask() for a mechanism before telling a report, got {report!r} from nobody")
        y = checks.whole_number("report", report, at_least=0)
        if y >= self.k:
            raise ValueError(f"report must be one of the categories 0..{self.k - 1}, got {report!r}")
        base, step, peak = self._asked.column(y)
        row = base + step * self._asked.member
        row[y] += peak
        with uninterrupted():  # recorded as a whole or not at all: whoever is told twice counts twice
            self._told.append((tuple(self._asked.subset), y))
            self._chain.add(row[None, :])
            self._asked = None
        self._chain.update(self.updates)  # if this is interrupted, the next sample is only a little older

    def estimate(self, updates: int = 4_000) -> np.ndarray:
        """The posterior mean of the shares, over ``updates`` of a copy of the chain: asking changes nothing.

        Before the first report it is the prior's mean.
        """
        if not self._told:
            return np.full(self.k, 1 / self.k)
        return copy.deepcopy(self._chain).mean(updates, burn=updates // 4)[0]

    def save(self, path: str | Path) -> None:
        """Write everything to a file. An older save of this very survey is replaced; any other file is refused.

        So is a save with more reports than this survey has: the people whose reports would be lost could only be asked
        again, and each time costs them epsilon.
        """
        target, chain = Path(path), self._chain
        if target.exists():
            there = _settings(target)
            if there.get("name") != self._name:
                raise ValueError(f"there is another file at {str(target)!r}, which was not saved by this survey")
            if there.get("reports", 0) > len(self._told):
                raise ValueError(
                    f"the save at {str(target)!r} has {there['reports']:,} reports, this survey {len(self._told):,}: "
                    f"it is an older copy, and saving it would lose what people have told since"
                )
        state = chain.rng.bit_generator.state
        if state["bit_generator"] != "PCG64":
            raise ValueError(f"only numpy's default generator (PCG64) can be saved, got {state['bit_generator']!r}")
        settings = {
            "format": FORMAT, "name": self._name, "asked": self._asked is not None, "random": state,
            "reports": len(self._told),
            "arguments": {
                "k": self.k, "epsilon": self.epsilon, "utility": self.utility, "alpha": self.alpha,
                "share": self.share, "prior": chain.prior, "updates": self.updates, "minibatch": chain.minibatch,
            },
        }  # fmt: skip
        members = np.zeros((len(self._told), self.k), dtype=bool)
        for marks, (subset, _) in zip(members, self._told, strict=True):
            marks[list(subset)] = True
        unfinished = target.with_name(f".{target.name}.{os.getpid()}")
        with unfinished.open("wb") as file:
            np.savez(
                file, settings=np.array(json.dumps(settings)), rows=chain.rows[0], phi=chain.phi, members=members,
                reports=np.array([y for _, y in self._told], dtype=np.int64),
            )  # fmt: skip
        unfinished.replace(target)

    @staticmethod
    def load(path: str | Path) -> AdaptiveSurvey:
        """Read a saved survey; it goes on exactly as the saved one would have."""
        settings = _settings(Path(path))
        if settings.get("format") != FORMAT:
            raise ValueError(f"there is no saved survey ({FORMAT}) at {str(path)!r}")
        survey = AdaptiveSurvey(**settings["arguments"], rng=0)
        with np.load(path, allow_pickle=False) as parts:
            if parts["members"].shape != (len(parts["reports"]), survey.k) or parts["rows"].shape != (
                len(parts["reports"]),
                survey.k,
            ):
                raise ValueError(f"the save at {str(path)!r} is damaged: its parts do not fit together")
            checks.categories("reports", parts["reports"], survey.k)
            survey._told = [
                (tuple(np.flatnonzero(marks).tolist()), y)
                for marks, y in zip(parts["members"], parts["reports"].tolist(), strict=True)
            ]
            survey._chain.restore(parts["rows"][None], parts["phi"])
        survey._chain.rng.bit_generator.state = settings["random"]
        survey._name = settings["name"]
        if settings["asked"]:
            survey.ask()
        return survey


def _settings(path: Path) -> dict[str, Any]:
    """What a saved survey says about itself; nothing if the file is anything else."""
    try:
        with np.load(path, allow_pickle=False) as parts:
            found = json.loads(str(parts["settings"]))
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return {}
    return found if isinstance(found, dict) else {}
