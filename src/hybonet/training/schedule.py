"""Learning-rate schedules as pure functions of the update number: nothing to save, nothing to restore."""

from __future__ import annotations

import math

from hybonet.training.settings import ScheduleSettings


def learning_rate_factor(schedule: ScheduleSettings, update: int, updates_per_epoch: int, total: int) -> float:
    """What the base learning rate is multiplied with at an update (counted from 0).

    ``exponential``: γ to the number of whole epochs done; ``linear`` and ``cosine``: from 1 to 0 over the training,
    or over what is left of it after the share ``hold``; ``noam``: √(warmup/update) after the warm-up. All rise linearly
    over the first ``warmup`` updates.

    Example:
        >>> learning_rate_factor(ScheduleSettings(kind="cosine"), 50, 10, 100)
        0.5
        >>> [learning_rate_factor(ScheduleSettings(kind="linear", hold=0.5), update, 10, 100) for update in (50, 75)]
        [1.0, 0.5]
    """
    rise = min(1.0, (update + 1) / schedule.warmup) if schedule.warmup else 1.0
    fallen = max(0.0, (update / max(1, total) - schedule.hold) / (1.0 - schedule.hold))
    match schedule.kind:
        case "constant":
            return rise
        case "exponential":
            return rise * schedule.gamma ** (update // max(1, updates_per_epoch))
        case "linear":
            return rise * (1.0 - fallen)
        case "cosine":
            return rise * round(0.5 * (1.0 + math.cos(math.pi * fallen)), 12)
        case "noam":
            return min(rise, math.sqrt(max(1, schedule.warmup) / (update + 1)))
