"""``python -m reliability``; see the package."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from hybonet.tasks.provenance import provenance
from reliability.record import RECORD, Record, page
from reliability.trials import TRIALS

_STORE_EVERY = 60.0


def main() -> int:
    """Entry point of the command; 1 if anything is lost or wrong."""
    parser = argparse.ArgumentParser(prog="python -m reliability", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth, without a record")
    parser.add_argument("--only", choices=[each.name for each in TRIALS], action="append", help="these trials alone")
    parser.add_argument("--share", type=float, help="this share of each trial, without a record")
    parser.add_argument("--page", action="store_true", help="write docs/reliability.md from the record, and no more")
    parser.add_argument("--scratch", type=Path, help="a folder to work in, kept for the next call")
    options = parser.parse_args()
    if options.page:
        page()
        return 0
    os.environ["HYBONET_DATA"] = ""  # nothing is found that is not made here
    share = options.share or (0.1 if options.quick else 1.0)
    record = Record.read(RECORD) if share == 1.0 else Record()
    commit = provenance()["commit"]
    with tempfile.TemporaryDirectory() as temporary:
        scratch = options.scratch or Path(temporary)
        for trial in TRIALS:
            if options.only and trial.name not in options.only:
                continue
            done = record.of(trial.name)
            attempt, total = None, max(1, round(share * trial.parts))
            if not done.parts and commit != record.origin["commit"]:
                done.commit = commit
            started = stored = time.monotonic()
            for number in range(done.parts, total):
                attempt = attempt or trial.prepare(scratch / trial.name)
                try:
                    done.counts += attempt(number)
                except Exception as error:
                    done.wrong.append(f"part {number}: {type(error).__name__}: {error}"[:1500])
                    print(f"WRONG {trial.name} {done.wrong[-1]}", file=sys.stderr, flush=True)
                    attempt = None  # what it left behind is not trusted
                    scratch = scratch / "again"
                done.parts = number + 1
                done.seconds += time.monotonic() - started
                started = time.monotonic()
                if share == 1.0 and (started - stored > _STORE_EVERY or done.parts == total):
                    record.write(RECORD)
                    stored = started
            counted = Counter(done.counts).most_common(3)
            print(
                f"{trial.name}: {done.parts} parts, {dict(counted)}, wrong: {len(done.wrong)}, {done.seconds:.0f} s",
                flush=True,
            )
    if share == 1.0:
        page()
    return int(any(record.of(trial.name).wrong for trial in TRIALS))


if __name__ == "__main__":
    sys.exit(main())
