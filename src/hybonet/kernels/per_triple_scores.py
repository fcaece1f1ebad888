"""Inner products of questions with rows of a table that each wants, and their gradients.

Rows are those of the knowledge-graph models' ``per_triple_scores``: as they are, or (``clip``) points whose space part
is the row's, clipped to ``max_norm``, and whose time follows.

Loops go over whole rows, time included, and time is mended afterwards: a loop over 31 of 32 coordinates would leave
half of them to be worked on one by one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, prange

from hybonet.kernels.parallel import parallel, serial


@njit
def _without_time(square: Any, table: Any, entity: int) -> Any:
    """The squared length of a row's space part, from that of the whole row: no difference of large numbers."""
    time_square = table[entity, 0] * table[entity, 0]
    space_square = square - time_square
    if time_square > space_square * table.dtype.type(64):
        space_square = table.dtype.type(0)
        for d in range(1, table.shape[1]):
            space_square += table[entity, d] * table[entity, d]
    return space_square


@parallel
def score(
    question: Any,
    asked: Any,
    table: Any,
    bias: Any,
    index: Any,
    clip: bool,
    max_norm: float,
    k: float,
    scores: Any,
    products: Any,
    factors: Any,
    times: Any,
) -> None:
    """Scores ``(B, C)``; with ``clip`` also what :func:`back_to_table` needs: products without factor, factors, times.

    ``asked`` are the questions, with ``clip`` those with a time of 0; ``bias`` may be empty.
    """
    width, biased = table.shape[1], len(bias) > 0
    number = question.dtype.type
    for row in prange(len(index)):
        for column in range(index.shape[1]):
            entity = index[row, column]
            product, square = number(0), number(0)
            for d in range(width):
                product += asked[row, d] * table[entity, d]
                square += table[entity, d] * table[entity, d]
            if clip:
                square = _without_time(square, table, entity)
                length = np.sqrt(square)
                factor = number(1)
                if length > max_norm:
                    factor = number(max_norm) / length
                    square = number(max_norm) * number(max_norm)
                time = np.sqrt(square + number(k))
                products[row, column], factors[row, column], times[row, column] = product, factor, time
                product = product * factor + question[row, 0] * time
            if biased:
                product += bias[entity]
            scores[row, column] = product


@parallel
def back_to_question(
    table: Any, index: Any, gradient: Any, clip: bool, factors: Any, times: Any, of_question: Any
) -> None:
    """The gradient of the questions, ``(B, k)``."""
    width = table.shape[1]
    for row in prange(len(index)):
        of_question[row] = 0
        of_time = table.dtype.type(0)
        for column in range(index.shape[1]):
            entity, weight = index[row, column], gradient[row, column]
            if clip:
                of_time += weight * times[row, column]
                weight *= factors[row, column]
            for d in range(width):
                of_question[row, d] += weight * table[entity, d]
        if clip:
            of_question[row, 0] = of_time


@serial
def sort_by_entity(index: Any, starts: Any, places: Any) -> None:
    """Places of the flat index by entity, in order for each, and where each entity's begin, ``(N + 1,)``.

    ``starts`` is zero at first.
    """
    for place in range(len(index)):
        starts[index[place] + 1] += 1
    for entity in range(1, len(starts)):
        starts[entity] += starts[entity - 1]
    for place in range(len(index)):
        entity = index[place]
        places[starts[entity]] = place
        starts[entity] += 1
    for entity in range(len(starts) - 1, 0, -1):  # each has moved to where the next one begins
        starts[entity] = starts[entity - 1]
    starts[0] = 0


@parallel
def back_to_table(
    question: Any,
    table: Any,
    gradient: Any,
    starts: Any,
    places: Any,
    clip: bool,
    products: Any,
    factors: Any,
    times: Any,
    of_table: Any,
    of_bias: Any,
) -> None:
    """The gradient of the table, ``(N, k)``, and of the biases, ``(N,)``, each number written once."""
    width, candidates = table.shape[1], gradient.shape[1]
    number = table.dtype.type
    for entity in prange(len(table)):
        of_table[entity] = 0
        total, along, of_time = number(0), number(0), number(0)
        factor, time = number(1), number(1)
        for at in range(starts[entity], starts[entity + 1]):
            row, column = places[at] // candidates, places[at] % candidates
            weight = gradient[row, column]
            total += weight
            if clip:
                factor, time = factors[row, column], times[row, column]
                of_time += weight * question[row, 0]
                weight *= factor
                along += weight * products[row, column]
            for d in range(width):
                of_table[entity, d] += weight * question[row, d]
        of_bias[entity] = total
        if clip and starts[entity] < starts[entity + 1]:
            # Time follows from space, dt/dx = x/t. The length of a row that was clipped is fixed: it feels only what of
            # the gradient is at right angles to it.
            outward = of_time / time
            if factor < 1:
                square = number(0)
                for d in range(width):
                    square += table[entity, d] * table[entity, d]
                outward = -along / _without_time(square, table, entity)
            for d in range(width):
                of_table[entity, d] += outward * table[entity, d]
            of_table[entity, 0] = 0
