"""Submissions to homework 2: the derivations."""

THETA = "exp(epsilon)/(exp(epsilon) + 1)"


def told_as_in_the_lecture():
    return [
        ("=", f"({THETA}) / (1 - {THETA})", "definition of theta"),
        ("=", f"({THETA}) / ((exp(epsilon) + 1 - exp(epsilon))/(exp(epsilon) + 1))", "algebra"),
        ("=", "exp(epsilon)/(exp(epsilon) + 1) * (exp(epsilon) + 1)/1", "algebra"),
        ("=", "exp(epsilon)", "algebra"),
    ]


def told_by_the_logistic():
    return [
        ["=", "(1/(1 + exp(-epsilon))) / (1 - 1/(1 + exp(-epsilon)))", "Definition of theta"],
        ["<=", "exp(epsilon)", "Algebra"],
    ]


def told_by_turning_over():
    return (
        ("=", "1/(1/theta - 1)", "algebra"),
        ("=", "1/((exp(epsilon) + 1)/exp(epsilon) - 1)", "definition of theta"),
        ("=", "1/exp(-epsilon)", "algebra"),
        ("==", "exp(epsilon)", "algebra"),
    )


def told_in_two():
    return [
        ("=", "exp(epsilon)*(1 - theta)/(1 - theta)", "definition of theta"),
        ("=", "exp(epsilon)", "algebra"),
    ]


def flipped_as_in_the_lecture():
    return [
        ("=", f"(1 - {THETA}) / ({THETA})", "definition of theta"),
        ("=", "(1/(exp(epsilon) + 1)) * ((exp(epsilon) + 1)/exp(epsilon))", "algebra"),
        ("=", "exp(-epsilon)", "algebra"),
        ("<=", "exp(epsilon)", "epsilon is not negative"),
    ]


def flipped_by_the_other_case():
    return [
        ("=", "1/(theta/(1 - theta))", "algebra"),
        ("=", "1/exp(epsilon)", "definition of theta"),
        ("≤", "exp(epsilon)", "epsilon is not negative"),
    ]


def flipped_by_one():
    return [
        ("=", "1/theta - 1", "algebra"),
        ("=", "1 + exp(-epsilon) - 1", "definition of theta"),
        ("<=", "1", "epsilon is not negative"),
        ("<=", "exp(epsilon)", "epsilon is not negative"),
    ]


def flipped_by_squares():
    return [
        ["=", "exp(-epsilon)", "definition of theta"],
        ["=", "exp(epsilon)*exp(-2*epsilon)", "algebra"],
        ["<=", "exp(epsilon)", "epsilon is not negative"],
    ]


def every_by_odds():
    return [
        ("=", "(theta/(1 - theta))**(s - t)", "algebra"),
        ("=", "exp(epsilon)**(s - t)", "definition of theta"),
        ("=", "exp(epsilon*(s - t))", "algebra"),
        ("<=", "exp(epsilon)", "epsilon is not negative"),
    ]


def every_by_powers():
    return [
        ("=", "theta**(s - t) * (1 - theta)**(t - s)", "algebra"),
        ("=", "(exp(epsilon)/(exp(epsilon) + 1))**(s - t) * (1/(exp(epsilon) + 1))**(t - s)", "definition of theta"),
        ("=", "exp(epsilon)**(s - t)", "algebra"),
        ("<=", "exp(epsilon)", "epsilon is not negative"),
    ]


def every_by_numerators():
    return [
        ("=", "(exp(epsilon*s)/(exp(epsilon) + 1)) / (exp(epsilon*t)/(exp(epsilon) + 1))", "definition of theta"),
        ("=", "exp(epsilon*s)/exp(epsilon*t)", "algebra"),
        ("<=", "exp(epsilon)/exp(epsilon*t)", "epsilon is not negative"),
        ("<=", "exp(epsilon)", "epsilon is not negative"),
    ]


def every_by_absolute_value():
    return [
        ("=", "exp(epsilon*(s - t))", "definition of theta"),
        ("=", "exp(epsilon*s - epsilon*t)", "algebra"),
        ("<=", "exp(epsilon*abs(s - t))", "epsilon is not negative"),
        ("<=", "exp(epsilon)", "epsilon is not negative"),
    ]


RIGHT = {
    "proof_truth_told": {
        "lecture": told_as_in_the_lecture,
        "logistic": told_by_the_logistic,
        "turned over": told_by_turning_over,
        "two steps": told_in_two,
    },
    "proof_flipped": {
        "lecture": flipped_as_in_the_lecture,
        "other case": flipped_by_the_other_case,
        "by way of 1": flipped_by_one,
        "squares": flipped_by_squares,
    },
    "proof_every_case": {
        "odds": every_by_odds,
        "powers": every_by_powers,
        "numerators": every_by_numerators,
        "absolute value": every_by_absolute_value,
    },
}

WRONG = {
    "proof_truth_told": {
        "first attempt": (
            lambda: [("=", "((1 + epsilon)/(2 + epsilon)) / (1/(2 + epsilon))", "definition of theta")],
            "first attempt",
        ),
        "not turned over": (
            lambda: [*told_as_in_the_lecture()[:1], ("=", f"{THETA} / (exp(epsilon) + 1)", "algebra")],
            "fraction not turned over",
        ),
        "by algebra": (lambda: [("=", "exp(2*epsilon)*exp(-epsilon)", "algebra")], "called algebra"),
        "same coin": (lambda: [("=", "1", "definition of theta")], "theta and its opposite"),
        "plus one": (lambda: [("=", "1 + exp(epsilon)", "definition of theta")], "all in one"),
        "stops early": (lambda: told_as_in_the_lecture()[:1], None),
        "start only": (lambda: [("=", "theta/(1 - theta)", "algebra")], None),
        "too large": (lambda: [*told_by_the_logistic()[:1], ("<=", "exp(2*epsilon)", "algebra")], None),
        "not readable": (lambda: [("=", "e^epsilon", "definition of theta")], None),
        "other reason": (lambda: [("=", "exp(epsilon)", "because it is so")], None),
    },
    "proof_flipped": {
        "slide": (lambda: [("=", "1", "definition of theta"), *flipped_by_one()[3:]], "the ratio is 1"),
        "equal": (lambda: [*flipped_as_in_the_lecture()[:3], ("=", "exp(epsilon)", "algebra")], "equal to the bound"),
        "by algebra": (lambda: [*flipped_as_in_the_lecture()[:3], ("<=", "exp(epsilon)", "algebra")], "called algebra"),
        "by symmetry": (lambda: [("=", "theta/(1 - theta)", "algebra")], "upside down"),
        "coin": (lambda: [("=", "1/exp(epsilon)", "algebra")], "coin called algebra"),
        "downwards": (
            lambda: [*flipped_by_the_other_case()[:2], (">=", "exp(epsilon)", "epsilon is not negative")],
            "wrong direction",
        ),
        "swapped": (lambda: told_as_in_the_lecture(), "upside down with theta put in"),
        "swapped, logistic": (
            lambda: [("=", "1/(1 + exp(-epsilon)) / (1 - 1/(1 + exp(-epsilon)))", "definition of theta")],
            "upside down with theta put in",
        ),
        "probability of the lie": (
            lambda: [("=", "(1 - 1/(1 + exp(epsilon))) / (1/(1 + exp(epsilon)))", "definition of theta")],
            "upside down with theta put in",
        ),
        "e^eps at once": (lambda: [("=", "exp(epsilon)", "algebra")], "the other case"),
        "first attempt": (
            lambda: [("=", "(1/(epsilon + 2)) / ((epsilon + 1)/(epsilon + 2))", "definition of theta")],
            "first attempt",
        ),
        "one above": (lambda: [("=", "1/(1/(1 + exp(-epsilon)))", "definition of theta")], "one minus forgotten"),
        "one lost": (lambda: [("=", "theta**(-1)", "algebra"), *flipped_by_one()[1:]], "minus one forgotten"),
        "the bound at once": (lambda: [("<=", "exp(epsilon)", "definition of theta")], "bounded at once"),
        "below one at once": (lambda: [("<=", "1", "algebra"), *flipped_by_one()[3:]], None),
        "simplified to the bound": (
            lambda: [*flipped_as_in_the_lecture()[:1], ("=", "exp(epsilon)", "algebra")],
            "equal to the bound",
        ),
        "algebra not named": (
            lambda: [("=", "exp(-epsilon)", "definition of theta"), *flipped_as_in_the_lecture()[3:]],
            None,
        ),
        "stops early": (lambda: flipped_as_in_the_lecture()[:3], None),
        "too small": (lambda: [*flipped_as_in_the_lecture()[:3], ("<=", "exp(-2*epsilon)", "algebra")], None),
    },
    "proof_every_case": {
        "added": (lambda: [("=", "(theta/(1 - theta))**(t + s)", "algebra")], "exponents added"),
        "no neighbour": (lambda: [("=", "theta**s*(1 - theta)**(-s)", "algebra")], "neighbour forgotten"),
        "equal": (lambda: [*every_by_odds()[:3], ("=", "exp(epsilon)", "algebra")], "equal to the bound"),
        "by algebra": (lambda: [*every_by_odds()[:3], ("<=", "exp(epsilon)", "algebra")], "called algebra"),
        "coin": (
            lambda: [*every_by_odds()[:1], ("=", "exp(epsilon)**s/exp(epsilon)**t", "algebra")],
            "coin called algebra",
        ),
        "one case": (lambda: [("=", "theta/(1 - theta)", "algebra"), *told_by_the_logistic()], None),
        "s is 1": (lambda: [("=", "(theta/(1 - theta))**(1 - t)", "algebra")], None),
    },
}
