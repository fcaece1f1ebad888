"""Loops of the knowledge-graph models: scores of the tails that each question wants, maps chosen by number, places.

Rows of the scores are those of the models' ``per_triple_scores``: as they are, or (``clip``) points whose space part is
the row's, clipped to ``max_norm``, and whose time follows. Loops go over whole rows, time included, and time is mended
afterwards: a loop over 31 of 32 coordinates would leave half of them to be worked on one by one.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from hybonet.kernels.parallel import parallel, serial


@njit
def _without_time(square, table, entity):
    """The squared length of a row's space part, from that of the whole row: no difference of large numbers."""
    time_square = table[entity, 0] * table[entity, 0]
    space_square = square - time_square
    if time_square > space_square * table.dtype.type(64):
        space_square = table.dtype.type(0)
        for d in range(1, table.shape[1]):
            space_square += table[entity, d] * table[entity, d]
    return space_square


@parallel
def score(question, asked, table, bias, index, clip, max_norm, k, scores, products, factors, times):
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
def back_to_question(table, index, gradient, clip, factors, times, of_question):
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
def sort_by_entity(index, starts, places):
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
def back_to_table(question, table, gradient, starts, places, clip, products, factors, times, of_table, of_bias):
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


@parallel
def rows_times(x, weight, group, out):
    """:math:`W_{g_i} x_i`, ``(B, n), (G, m, n), (B,) -> (B, m)``."""
    for row in prange(len(x)):
        number = group[row]
        for o in range(weight.shape[1]):
            total = x.dtype.type(0)
            for d in range(weight.shape[2]):
                total += weight[number, o, d] * x[row, d]
            out[row, o] = total


@parallel
def back_to_rows(gradient, weight, group, of_x):
    """:math:`W_{g_i}^T` times the gradient of a row, ``(B, m) -> (B, n)``."""
    for row in prange(len(gradient)):
        number = group[row]
        of_x[row] = 0
        for o in range(weight.shape[1]):
            for d in range(weight.shape[2]):
                of_x[row, d] += gradient[row, o] * weight[number, o, d]


@parallel
def back_to_maps(gradient, x, group, of_weight):
    """Each map's sum of outer products over its rows, ``(G, m, n)``: a thread has some of the m for all maps."""
    for o in prange(of_weight.shape[1]):
        for number in range(len(of_weight)):
            of_weight[number, o] = 0
        for row in range(len(x)):
            number, g = group[row], gradient[row, o]
            for d in range(of_weight.shape[2]):
                of_weight[number, o, d] += g * x[row, d]


@parallel
def count_tile(
    scores,
    first_column,
    columns,
    limits,
    better,
    at_least,
    extra_rows,
    extra_columns,
    extra,
    read_rows,
    read_columns,
    read,
):
    """Add to the counts of scores above a row's limit, and of those not below, what a tile has in its first columns.

    First the numbers ``extra`` are added at their places, and scores are read at others; columns are those of the
    whole matrix. A tile has fewer than 2²⁴ columns: they are counted as floats, which the processor compares and adds
    at one width.
    """
    for place in range(len(extra)):
        scores[extra_rows[place], extra_columns[place] - first_column] += extra[place]
    for place in range(len(read)):
        read[place] = scores[read_rows[place], read_columns[place] - first_column]
    for row in prange(len(scores)):
        limit, larger, not_smaller = limits[row], np.float32(0), np.float32(0)
        for column in range(columns):
            score = scores[row, column]
            larger += np.float32(1) if score > limit else np.float32(0)
            not_smaller += np.float32(1) if score >= limit else np.float32(0)
        better[row] += int(larger)
        at_least[row] += int(not_smaller)
