"""Settings from a JSON file, as ``hybonet recipes show --json`` and ``hybonet tune`` write them."""

from __future__ import annotations

import json
from pathlib import Path

from hybonet.training import LoopSettings


def read_settings_file(path: Path, kind: type[LoopSettings]) -> LoopSettings:
    """The settings that a file holds, checked; what it leaves out is as the settings' class has it.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "mine.json"
        >>> written = path.write_text('{"epochs": 3, "seeds": 1}')
        >>> read_settings_file(path, LoopSettings)
        Traceback (most recent call last):
        ValueError: .../mine.json: unknown setting 'seeds'; did you mean 'seed'?
    """
    if not path.is_file():
        raise ValueError(f"expected a file of settings, got {str(path)!r}, which is not there; check --recipe")
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(values, dict):
            raise ValueError(f"expected a JSON object, got {values!r:.40}; hybonet recipes show default --json has one")
        return kind.checked(kind.renewed(values))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(
            f"{path}: expected JSON, but {error}; hybonet recipes show default --json has an example"
        ) from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
