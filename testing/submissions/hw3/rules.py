"""Submissions to homework 3: groups, ledgers, and the derivation."""

import math
from decimal import Decimal

import numpy as np


def group_sum(epsilon, delta, k):
    return k * epsilon, sum(delta * math.exp(i * epsilon) for i in range(k))


def group_chain(epsilon, delta, k):
    total_epsilon, total_delta = 0.0, 0.0
    for _ in range(k):
        total_epsilon, total_delta = total_epsilon + epsilon, math.exp(epsilon) * total_delta + delta
    return {"delta": total_delta, "epsilon": total_epsilon}


def group_quotient(epsilon, delta, k):
    terms = k if epsilon == 0 else np.expm1(k * epsilon) / np.expm1(epsilon)
    return np.array([k * epsilon, delta * terms]).tolist()


def group_numpy(epsilon, delta, k):
    return np.float64(epsilon) * k, np.array([delta * np.exp(epsilon * np.arange(k)).sum()])


def group_zero_divided(epsilon, delta, k):
    return k * epsilon, delta * (math.exp(k * epsilon) - 1) / (math.exp(epsilon) - 1)


def ledger_loop(costs, epsilon, delta):
    answered, spent_epsilon, spent_delta = [], 0, 0
    for cost_epsilon, cost_delta in costs:
        fits = spent_epsilon + cost_epsilon <= epsilon and spent_delta + cost_delta <= delta
        answered.append(fits)
        if fits:
            spent_epsilon += cost_epsilon
            spent_delta += cost_delta
    return answered, spent_epsilon, spent_delta


def ledger_left(costs, epsilon, delta):
    left, answered = np.array([epsilon, delta]), np.zeros(len(costs), dtype=int)
    for number, cost in enumerate(np.array(costs)):
        if (cost <= left + 1e-15).all():
            left, answered[number] = left - cost, 1
    total = np.array(costs)[answered == 1].sum(axis=0)
    return {"answered": answered, "epsilon": total[0], "delta": total[1]}


def ledger_exact(costs, epsilon, delta):
    from fractions import Fraction

    spent, answered = [Fraction(0), Fraction(0)], []
    for cost in costs:
        after = [so_far + Fraction(one) for so_far, one in zip(spent, cost, strict=True)]
        if after[0] > Fraction(epsilon) or after[1] > Fraction(delta):
            answered.append(0)
            continue
        spent = after
        answered.append(1)
    return answered, float(spent[0]), float(spent[1])


def ledger_lists(costs, epsilon, delta):
    granted, answered = [], []
    for cost in costs:
        tried = [*granted, cost]
        if math.fsum(e for e, _ in tried) > epsilon or math.fsum(d for _, d in tried) > delta:
            answered.append(0.0)
        else:
            granted = tried
            answered.append(1.0)
    return tuple(answered), sum(e for e, _ in granted), sum(d for _, d in granted)


def ledger_charged(costs, epsilon, delta):
    totals = np.cumsum(np.array(costs), axis=0)
    answered = (totals[:, 0] <= epsilon) & (totals[:, 1] <= delta)
    return answered, totals[-1, 0], totals[-1, 1]


def ledger_stops(costs, epsilon, delta):
    answered, spent = [0] * len(costs), [0, 0]
    for number, cost in enumerate(costs):
        if spent[0] + cost[0] > epsilon or spent[1] + cost[1] > delta:
            break
        answered[number] = 1
        spent = [spent[0] + cost[0], spent[1] + cost[1]]
    return answered, *spent


def ledger_no_delta(costs, epsilon, delta):
    return ledger_loop(costs, epsilon, math.inf)


def ledger_strict(costs, epsilon, delta):
    answered, spent = [], [0, 0]
    for cost in costs:
        answered.append(spent[0] + cost[0] < epsilon and spent[1] + cost[1] < delta)
        if answered[-1]:
            spent = [spent[0] + cost[0], spent[1] + cost[1]]
    return answered, *spent


def ledger_late(costs, epsilon, delta):
    answered, spent = [], [0, 0]
    for cost in costs:
        answered.append(spent[0] < epsilon and spent[1] < delta)
        if answered[-1]:
            spent = [spent[0] + cost[0], spent[1] + cost[1]]
    return answered, *spent


def ledger_says_what_is_left(costs, epsilon, delta):
    left, answered = [epsilon, delta], []
    for cost in costs:
        fits = cost[0] <= left[0] and cost[1] <= left[1] * (1 + 1e-12)
        answered.append(int(fits))
        if fits:
            left = [left[0] - cost[0], left[1] - cost[1]]
    return answered, *left


def ledger_mixes_up(costs, epsilon, delta):
    """Compares what would be spent with what is left, where one of the two is enough."""
    answered, spent, left = [], np.zeros(2), np.array([epsilon, delta])
    for cost in np.array(costs):
        answered.append(bool((spent + cost <= left).all()))
        if answered[-1]:
            spent, left = spent + cost, left - cost
    return answered, *spent


def ledger_alone(costs, epsilon, delta):
    """The budget is never made smaller."""
    granted = [cost for cost in costs if cost[0] <= epsilon and cost[1] <= delta]
    return [cost in granted for cost in costs], *np.sum(granted, axis=0)


def ledger_largest(costs, epsilon, delta):
    answered = [cost[0] <= epsilon and cost[1] <= delta for cost in costs]
    return answered, max(cost[0] for cost in costs), max(cost[1] for cost in costs)


def ledger_by(fits):
    """What fits is decided by a rule of one's own."""

    def ledger(costs, epsilon, delta):
        answered, spent = [], (0.0, 0.0)
        for e, d in costs:
            answered.append(bool(fits(spent[0] + e, epsilon, spent[1] + d, delta)))
            if answered[-1]:
                spent = (spent[0] + e, spent[1] + d)
        return answered, *spent

    return ledger


LINKS = ("d0 and d1 are neighbours", "d1 and d2 are neighbours")


def chain_as_in_the_lecture():
    return [
        ("<=", "exp(epsilon)*p1 + delta", LINKS[0]),
        ("<=", "exp(epsilon)*(exp(epsilon)*p2 + delta) + delta", LINKS[1]),
        ("=", "exp(2*epsilon)*p2 + (1 + exp(epsilon))*delta", "algebra"),
    ]


def chain_multiplied_out():
    return [
        ["<=", "delta + p1*exp(epsilon)", LINKS[0].upper()],
        ["≤", "delta + exp(epsilon)*delta + exp(epsilon)**2*p2", LINKS[1]],
        ["=", "exp(epsilon + epsilon)*p2 + exp(epsilon)*delta + delta", "algebra"],
    ]


def chain_with_a_start():
    return [
        ("=", "1*p0", "algebra"),
        *chain_as_in_the_lecture()[:2],
        ("=", "exp(2*epsilon)*p2 + delta*(exp(epsilon) + 1)", "algebra"),
    ]


def chain_in_small_steps():
    return (
        *chain_as_in_the_lecture()[:2],
        ("=", "exp(epsilon)*exp(epsilon)*p2 + exp(epsilon)*delta + delta", "algebra"),
        ("=", "exp(2*epsilon)*p2 + exp(epsilon)*delta + delta", "algebra"),
    )


RIGHT = {
    "group_guarantee": {"sum": group_sum, "chain": group_chain, "quotient": group_quotient, "numpy": group_numpy},
    "ledger": {"loop": ledger_loop, "what is left": ledger_left, "fractions": ledger_exact, "lists": ledger_lists},
    "proof_group_of_two": {
        "lecture": chain_as_in_the_lecture,
        "multiplied out": chain_multiplied_out,
        "with a start": chain_with_a_start,
        "small steps": chain_in_small_steps,
    },
}

WRONG = {
    "group_guarantee": {
        "slide": (
            lambda epsilon, delta, k: (k * epsilon, k * math.exp((k - 1) * epsilon) * delta),
            "the slide's bound",
        ),
        "k delta": (lambda epsilon, delta, k: (epsilon * k, delta * k), "k delta"),
        "epsilon kept": (lambda epsilon, delta, k: (epsilon, group_sum(epsilon, delta, k)[1]), "epsilon kept"),
        "exponential": (
            lambda epsilon, delta, k: (np.exp(k * epsilon), group_sum(epsilon, delta, k)[1]),
            "epsilon exponential",
        ),
        "one more": (lambda epsilon, delta, k: (k * epsilon, group_sum(epsilon, delta, k + 1)[1]), "one term too many"),
        "zero divided": (group_zero_divided, None),
        "delta kept": (lambda epsilon, delta, k: (k * epsilon, delta), None),
    },
    "ledger": {
        "charged": (ledger_charged, "refused and charged"),
        "stops": (ledger_stops, "closed after the first refusal"),
        "no delta": (ledger_no_delta, "delta not checked"),
        "strict": (ledger_strict, "never used up"),
        "late": (ledger_late, "refused too late"),
        "what is left": (ledger_says_what_is_left, "left for spent"),
        "spent and left": (ledger_mixes_up, "spent counted twice"),
        "each by itself": (ledger_alone, "each query by itself"),
        "largest": (ledger_largest, "each query by itself"),
        "strict delta": (ledger_by(lambda e, epsilon, d, delta: e <= epsilon and d < delta), None),
        "five percent": (ledger_by(lambda e, epsilon, d, delta: e <= epsilon and d <= 1.05 * delta), None),
        "or": (ledger_by(lambda e, epsilon, d, delta: e <= epsilon or d <= delta), "one of them fits"),
        "everything": (
            lambda costs, epsilon, delta: (np.ones(len(costs)), *np.sum(costs, axis=0)),
            "nothing refused",
        ),
        "nothing": (lambda costs, epsilon, delta: ([0] * len(costs), 0, 0), None),
    },
    "proof_group_of_two": {
        "2 delta": (
            lambda: [*chain_as_in_the_lecture()[:1], ("<=", "exp(epsilon)**2*p2 + delta + delta", LINKS[1])],
            "delta not multiplied",
        ),
        "no delta": (lambda: [("<=", "p1*exp(epsilon)", LINKS[0])], "delta forgotten"),
        "both at once": (lambda: [("<=", "delta + exp(epsilon)*p2", LINKS[0])], "both at once"),
        "equal": (lambda: [("=", "exp(epsilon)*p1 + delta", "algebra")], "equal"),
        "slide": (
            lambda: [*chain_as_in_the_lecture()[:2], ("=", "exp(2*epsilon)*p2 + 2*delta*exp(epsilon)", "algebra")],
            "brackets forgotten",
        ),
        "wrong link": (
            lambda: [(a, b, LINKS[0] if a == "<=" else c) for a, b, c in chain_as_in_the_lecture()],
            "wrong link",
        ),
        "stops early": (lambda: chain_as_in_the_lecture()[:1], None),
        "no reason": (lambda: [(a, b, "algebra") for a, b, c in chain_as_in_the_lecture()], None),
        "one leap": (lambda: [("<=", "exp(2*epsilon)*p2 + (1 + exp(epsilon))*delta", LINKS[0])], None),
    },
}


def group_decimal(epsilon, delta, k):
    e, d = Decimal(repr(epsilon)), Decimal(repr(delta))
    return k * e, d * sum((i * e).exp() for i in range(k))


def group_horner(epsilon, delta, k):
    """The sum as a polynomial in e^eps."""
    return k * epsilon, np.polyval(np.full(k, delta), np.exp(epsilon))


def group_recursive(epsilon, delta, k):
    if k == 1:
        return epsilon, delta
    before = group_recursive(epsilon, delta, k - 1)
    return before[0] + epsilon, before[1] + math.exp((k - 1) * epsilon) * delta


def group_torch(epsilon, delta, k):
    import torch

    powers = torch.exp(torch.arange(k) * epsilon)  # in single precision
    return torch.tensor([k * epsilon, delta * powers.sum()])


def group_pandas(epsilon, delta, k):
    import pandas as pd

    chain = pd.Series(range(k)).mul(epsilon).map(math.exp).mul(delta)
    return {"epsilon": pd.Series([epsilon] * k).sum(), "delta": chain.sum()}


def ledger_decimal(costs, epsilon, delta):
    left, answered = [Decimal(epsilon), Decimal(delta)], []
    for cost in costs:
        price = [Decimal(part) for part in cost]
        answered.append(all(one <= rest for one, rest in zip(price, left, strict=True)))
        if answered[-1]:
            left = [rest - one for one, rest in zip(price, left, strict=True)]
    return answered, Decimal(epsilon) - left[0], Decimal(delta) - left[1]


def ledger_whole(costs, epsilon, delta):
    """In the smallest coins, as a bank would do it."""

    def coins(value):
        return round(value * 2**40)

    answered, spent = [], (0, 0)
    for e, d in costs:
        after = spent[0] + coins(e), spent[1] + coins(d)
        fits = after[0] <= coins(epsilon) and after[1] <= coins(delta)
        spent = after if fits else spent
        answered.append(fits)
    return {"answered": answered, "epsilon": spent[0] / 2**40, "delta": spent[1] / 2**40}


def ledger_recursive(costs, epsilon, delta):
    if not len(costs):
        return [], 0, 0
    (e, d), rest = costs[0], costs[1:]
    fits = e <= epsilon and d <= delta
    later = ledger_recursive(rest, epsilon - fits * e, delta - fits * d)
    return [int(fits), *later[0]], later[1] + fits * e, later[2] + fits * d


def ledger_pandas(costs, epsilon, delta):
    import pandas as pd

    table = pd.DataFrame(list(costs), columns=["epsilon", "delta"]).assign(answered=0)
    for row in table.index:
        total = table[table.answered == 1][["epsilon", "delta"]].sum() + table.loc[row, ["epsilon", "delta"]]
        table.loc[row, "answered"] = int(total.epsilon <= epsilon and total.delta <= delta)
    spent = table[table.answered == 1][["epsilon", "delta"]].sum()
    return table.answered, spent.epsilon, spent.delta


RIGHT["group_guarantee"] |= {
    "Decimal": group_decimal,
    "Horner": group_horner,
    "recursive": group_recursive,
    "torch, single": group_torch,
    "pandas": group_pandas,
}
RIGHT["ledger"] |= {
    "Decimal": ledger_decimal,
    "whole coins": ledger_whole,
    "recursive": ledger_recursive,
    "pandas": ledger_pandas,
}

WRONG["group_guarantee"] |= {
    "delta unchanged": (lambda epsilon, delta, k: (k * epsilon, delta), "delta kept"),
    "k for k - 1": (lambda epsilon, delta, k: (k * epsilon, delta * k * math.exp(k * epsilon)), "k for k - 1"),
    "largest term": (lambda epsilon, delta, k: (k * epsilon, delta * math.exp((k - 1) * epsilon)), "last term only"),
    "from one": (
        lambda epsilon, delta, k: (epsilon * k, sum(delta * math.exp(i * epsilon) for i in range(1, k + 1))),
        "sum from e^epsilon",
    ),
    "one less": (lambda epsilon, delta, k: (epsilon * k, group_sum(epsilon, delta, k - 1)[1]), "one term too few"),
    "both kept": (lambda epsilon, delta, k: (epsilon, delta), "delta kept"),
    "power": (lambda epsilon, delta, k: (k * epsilon, delta**k), None),
    "one minus": (lambda epsilon, delta, k: (k * epsilon, 1 - (1 - delta) ** k), None),
    "k^2": (lambda epsilon, delta, k: (k * epsilon, k * k * delta), None),
    "swapped": (lambda epsilon, delta, k: group_sum(epsilon, delta, k)[::-1], None),
    "root of k": (lambda epsilon, delta, k: (math.sqrt(k) * epsilon, group_sum(epsilon, delta, k)[1]), None),
    "None": (lambda epsilon, delta, k: None, None),
}  # fmt: skip
WRONG["group_guarantee"]["delta kept"] = (WRONG["group_guarantee"]["delta kept"][0], "delta kept")
WRONG["ledger"] |= {
    "no epsilon": (ledger_by(lambda e, epsilon, d, delta: d <= delta), "epsilon not checked"),
    "strict epsilon": (ledger_by(lambda e, epsilon, d, delta: e < epsilon and d <= delta), None),
    "sum of both": (ledger_by(lambda e, epsilon, d, delta: e + d <= epsilon + delta), None),
    "a little more": (ledger_by(lambda e, epsilon, d, delta: e <= epsilon + 1e-3 and d <= delta), None),
    "rounded": (ledger_by(lambda e, epsilon, d, delta: round(e, 3) <= round(epsilon, 3) and d <= delta), None),
    "delta rounded": (ledger_by(lambda e, epsilon, d, delta: e <= epsilon and round(d, 4) <= round(delta, 4)), None),
    "delta free at 0": (ledger_by(lambda e, epsilon, d, delta: e <= epsilon and (d <= delta or not delta)), None),
    "cheapest first": (
        lambda costs, epsilon, delta: ledger_loop(sorted(costs), epsilon, delta), None,
    ),
    "refused as False, spent 0": (lambda costs, epsilon, delta: (ledger_loop(costs, epsilon, delta)[0], 0, 0), None),
    "numbers of the queries": (
        lambda costs, epsilon, delta: (
            np.flatnonzero(ledger_loop(costs, epsilon, delta)[0]), *ledger_loop(costs, epsilon, delta)[1:]
        ),
        None,
    ),
}  # fmt: skip
