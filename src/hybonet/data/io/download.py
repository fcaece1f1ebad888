"""Downloading one file: resumed where it broke off, checked, and in place only when complete."""

from __future__ import annotations

import http.client
import os
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hybonet.data.io.source_file import max_bytes
from hybonet.files import naming, sha256_of

#: Called with the file's name, the bytes so far and the bytes in all (None if the server does not say).
Progress = Callable[[str, int, int | None], None]
_CHUNK = 1 << 16
_PAUSE_SECONDS = 0.5
_PASSING = {408, 425, 429, 500, 502, 503, 504}


class DownloadError(OSError):
    """A download that failed for good; the message says what to do.

    Example:
        >>> try:
        ...     download("file:///etc/hosts", "hosts")
        ... except DownloadError as error:
        ...     print(error)
        expected an https address, got 'file:///etc/hosts'; download it by other means
    """


class _InterruptedError(Exception):
    """A connection that broke or a server that is busy: worth another attempt."""


def download(
    url: str,
    target: str | Path,
    *,
    sha256: str | None = None,
    size: int | None = None,
    progress: Progress | None = None,
    attempts: int = 4,
    timeout: float = 30.0,
) -> Path:
    """Download ``url`` to ``target``, which appears only when it is complete and its checksum is right.

    What has arrived lies in ``target`` + ``.part``; a later attempt, also by a later call, continues from there.

    Args:
        url: https, where it leads to as well; http of this machine alone.
        target: the file to write; its folder is made.
        sha256: the checksum to expect; None where only the content can be checked, by the caller.
        size: the most bytes to take; without it, what ``HYBONET_MAX_BYTES`` allows.
        progress: called after every piece.
        attempts: how often to try where the connection breaks or the server is busy.
        timeout: seconds of silence after which a connection counts as broken.
    """
    _check_address(url)
    target = Path(target)
    part = target.with_name(f"{target.name}.part")
    for path in (target, part):
        if path.is_symlink():  # whoever put it there would choose what is overwritten
            raise DownloadError(f"expected no link at {path}, found one; remove it")
    most = max_bytes() if size is None else size
    for attempt in range(attempts):
        try:
            _transfer(url, part, progress, timeout, most)
            break
        except _InterruptedError as error:
            if attempt + 1 == attempts:
                kept = part.stat().st_size if part.exists() else 0
                raise DownloadError(
                    f"{url}: the download broke off {attempts} times, last with: {error}; "
                    + (f"{kept:,} bytes are kept, so try again later to continue" if kept else "check the connection")
                ) from None
            time.sleep(_PAUSE_SECONDS * 2**attempt)
    if sha256 is not None:
        found = sha256_of(part)
        if found != sha256:
            part.unlink()
            raise DownloadError(
                f"{url}: expected a file with sha256 {sha256}, got {found}; the file there has changed or was damaged "
                "on the way and was not kept, so try again, or get it elsewhere"
            )
    os.replace(part, target)
    return target


def _check_address(url: str) -> None:
    address = urllib.parse.urlsplit(url)
    if address.scheme != "https" and not (address.scheme == "http" and address.hostname in ("localhost", "127.0.0.1")):
        raise DownloadError(f"expected an https address, got {url!r}; download it by other means")


class _OnlySafe(urllib.request.HTTPRedirectHandler):
    """Follows a server's word to an address that would have been taken at first, and to no other."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        _check_address(newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _transfer(url: str, part: Path, progress: Progress | None, timeout: float, most: int) -> None:
    """Fetch what is still missing of ``part``."""
    start = part.stat().st_size if part.exists() else 0
    headers = {"User-Agent": "hybonet", "Accept-Encoding": "identity"}
    if start:
        headers["Range"] = f"bytes={start}-"
    try:
        opener = urllib.request.build_opener(_OnlySafe)
        response = opener.open(urllib.request.Request(url, headers=headers), timeout=timeout)
    except urllib.error.HTTPError as error:
        error.close()
        _refused(url, part, start, error)
        return
    except DownloadError:
        raise
    except (OSError, http.client.HTTPException) as error:  # URLError, timeouts and resets are OSErrors
        raise _InterruptedError(getattr(error, "reason", None) or error) from None
    with response:
        resumed = response.status == http.HTTPStatus.PARTIAL_CONTENT
        if resumed and not response.headers.get("Content-Range", "").startswith(f"bytes {start}-"):
            part.unlink()
            raise _InterruptedError("the server sent another part than the missing one")
        done = start if resumed else 0
        length = response.headers.get("Content-Length", "")
        total = done + int(length) if length.isdigit() else None
        _check_length(url, part, total or 0, most)
        part.parent.mkdir(parents=True, exist_ok=True)
        with naming(part), open(part, "ab" if resumed else "wb") as file:
            while chunk := _read(response):
                file.write(chunk)
                done += len(chunk)
                _check_length(url, part, done, most)
                if progress is not None:
                    progress(Path(urllib.parse.urlsplit(url).path).name, done, total)
    if total is not None and done < total:
        raise _InterruptedError(f"the connection closed after {done:,} of {total:,} bytes")


def _check_length(url: str, part: Path, length: int, most: int) -> None:
    if length > most:
        part.unlink(missing_ok=True)
        raise DownloadError(
            f"{url}: expected at most {most:,} bytes, got {length:,} or more; the file there has changed"
        )


def _read(response: http.client.HTTPResponse) -> bytes:
    try:
        return response.read(_CHUNK)
    except http.client.IncompleteRead as error:
        raise _InterruptedError("the connection closed early") from error
    except (OSError, http.client.HTTPException) as error:
        raise _InterruptedError(error) from None


def _refused(url: str, part: Path, start: int, error: urllib.error.HTTPError) -> None:
    """An answer other than the file; returns only if the part turns out to be the whole."""
    if error.code == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE and start:
        if error.headers.get("Content-Range", "") == f"bytes */{start}":
            return
        part.unlink()  # longer than the file: of another version
        raise _InterruptedError("the partial download did not fit the file")
    if error.code in _PASSING:
        raise _InterruptedError(f"HTTP {error.code} {error.reason}")
    raise DownloadError(
        f"{url}: expected the file, got HTTP {error.code} {error.reason}; check the address, or get the file elsewhere"
    )
