"""Search for good settings: what may be tried, and trainings that try it, which needs the extra ``tune``."""

from hybonet.training.ranges import Between, OneOf, Range, check_ranges, read_ranges

__all__ = ["Between", "OneOf", "Range", "check_ranges", "read_ranges"]
