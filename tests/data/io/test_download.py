"""Downloads against a server on this machine: resumed, checked, refused, broken off."""

import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from hybonet.data import DownloadError
from hybonet.data.io import download
from hybonet.data.io.download import download as fetch

CONTENT = bytes(range(256)) * 2000
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class Server(ThreadingHTTPServer):
    """Serves CONTENT. What it does amiss is set by a test."""

    breaks_after: list[int]
    statuses: list[int]
    ignores_ranges = False
    hides_length = False
    sends_on_to = ""
    ranges: list[str | None]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/data.bin"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        asked = self.headers.get("Range")
        self.server.ranges.append(asked)
        if self.server.statuses:
            self.send_error(self.server.statuses.pop(0))
            return
        if self.server.sends_on_to:
            self.send_response(302)
            self.send_header("Location", self.server.sends_on_to)
            self.end_headers()
            return
        start = int(asked.removeprefix("bytes=").removesuffix("-")) if asked and not self.server.ignores_ranges else 0
        if start >= len(CONTENT):
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{len(CONTENT)}")
            self.end_headers()
            return
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(CONTENT) - 1}/{len(CONTENT)}")
        if not self.server.hides_length:
            self.send_header("Content-Length", str(len(CONTENT) - start))
        self.end_headers()
        body = CONTENT[start:]
        if self.server.breaks_after:
            body = body[: self.server.breaks_after.pop(0)]
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr(download, "_PAUSE_SECONDS", 0.0)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    running = Server(("127.0.0.1", 0), Handler)
    running.breaks_after, running.statuses, running.ranges = [], [], []
    thread = threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield running
    running.shutdown()
    running.server_close()
    thread.join()


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def test_whole_file_with_progress(server: Server, tmp_path: Path) -> None:
    seen: list[tuple[str, int, int | None]] = []
    path = fetch(server.url, tmp_path / "new" / "data.bin", sha256=SHA256, progress=lambda *step: seen.append(step))
    assert path.read_bytes() == CONTENT
    assert names(path.parent) == ["data.bin"]
    assert seen[-1] == ("data.bin", len(CONTENT), len(CONTENT))
    assert [done for _, done, _ in seen] == sorted(done for _, done, _ in seen)


def test_broken_connection_is_resumed(server: Server, tmp_path: Path) -> None:
    server.breaks_after = [100_000, 50_000]
    assert fetch(server.url, tmp_path / "data.bin", sha256=SHA256).read_bytes() == CONTENT
    assert server.ranges == [None, "bytes=100000-", "bytes=150000-"]


def test_a_later_call_resumes_what_an_earlier_one_kept(server: Server, tmp_path: Path) -> None:
    server.breaks_after = [1000, 1000]
    with pytest.raises(DownloadError, match=r"broke off 2 times, last with: .*2,000 bytes are kept, so try"):
        fetch(server.url, tmp_path / "data.bin", sha256=SHA256, attempts=2)
    assert names(tmp_path) == ["data.bin.part"]
    assert fetch(server.url, tmp_path / "data.bin", sha256=SHA256).read_bytes() == CONTENT
    assert server.ranges[-1] == "bytes=2000-"


def test_a_server_without_ranges_sends_all_again(server: Server, tmp_path: Path) -> None:
    server.breaks_after, server.ignores_ranges = [1000], True
    assert fetch(server.url, tmp_path / "data.bin", sha256=SHA256).read_bytes() == CONTENT


def test_complete_part_needs_no_more_bytes(server: Server, tmp_path: Path) -> None:
    (tmp_path / "data.bin.part").write_bytes(CONTENT)
    assert fetch(server.url, tmp_path / "data.bin", sha256=SHA256).read_bytes() == CONTENT


def test_part_longer_than_the_file_is_dropped(server: Server, tmp_path: Path) -> None:
    (tmp_path / "data.bin.part").write_bytes(CONTENT + b"more")
    assert fetch(server.url, tmp_path / "data.bin", sha256=SHA256).read_bytes() == CONTENT
    assert server.ranges[-1] is None


def test_unknown_length_is_no_obstacle(server: Server, tmp_path: Path) -> None:
    server.hides_length = True
    totals = set()
    fetch(server.url, tmp_path / "data.bin", sha256=SHA256, progress=lambda name, done, total: totals.add(total))
    assert totals == {None}


def test_wrong_checksum_keeps_nothing(server: Server, tmp_path: Path) -> None:
    with pytest.raises(DownloadError, match=rf"expected a file with sha256 {'0' * 64}, got {SHA256}; .* was not kept"):
        fetch(server.url, tmp_path / "data.bin", sha256="0" * 64)
    assert names(tmp_path) == []


def test_a_damaged_part_is_found_out_and_removed(server: Server, tmp_path: Path) -> None:
    (tmp_path / "data.bin.part").write_bytes(b"x" * 1000)
    with pytest.raises(DownloadError, match="expected a file with sha256"):
        fetch(server.url, tmp_path / "data.bin", sha256=SHA256)
    assert fetch(server.url, tmp_path / "data.bin", sha256=SHA256).read_bytes() == CONTENT


def test_missing_file_is_final(server: Server, tmp_path: Path) -> None:
    server.statuses = [404, 404]
    with pytest.raises(DownloadError, match=r"data.bin: expected the file, got HTTP 404 Not Found; check the address"):
        fetch(server.url, tmp_path / "sub" / "data.bin")
    assert len(server.ranges) == 1
    assert names(tmp_path) == []


@pytest.mark.parametrize("statuses", [[503, 429], [500, 502], [504, 408, 425]])
def test_busy_server_is_asked_again(server: Server, tmp_path: Path, statuses: list[int]) -> None:
    server.statuses = statuses
    assert fetch(server.url, tmp_path / "data.bin", sha256=SHA256).read_bytes() == CONTENT


def test_nobody_answers(server: Server, tmp_path: Path) -> None:
    url = server.url
    server.shutdown()
    server.server_close()
    with pytest.raises(DownloadError, match=r"broke off 2 times, last with: .*refused.*; check the connection"):
        fetch(url, tmp_path / "data.bin", attempts=2)
    assert names(tmp_path) == []


@pytest.mark.parametrize("place", ["http://example.org/data.bin", "ftp://127.0.0.1/data.bin"])
def test_a_server_that_sends_on_elsewhere_is_not_followed(server: Server, tmp_path: Path, place: str) -> None:
    server.sends_on_to = place
    with pytest.raises(DownloadError, match=f"expected an https address, got '{place}'"):
        fetch(server.url, tmp_path / "data.bin")
    with pytest.raises(DownloadError, match="expected an https address"):
        fetch(place, tmp_path / "data.bin")
    assert names(tmp_path) == []


@pytest.mark.parametrize("hidden", [False, True])
def test_no_more_is_taken_than_was_announced(server: Server, tmp_path: Path, hidden: bool) -> None:
    server.hides_length = hidden
    with pytest.raises(DownloadError, match=r"expected at most 1,000 bytes, got .* or more"):
        fetch(server.url, tmp_path / "data.bin", size=1000)
    assert names(tmp_path) == []
    assert fetch(server.url, tmp_path / "data.bin", size=len(CONTENT)).stat().st_size == len(CONTENT)


@pytest.mark.parametrize("name", ["data.bin", "data.bin.part"])
def test_a_link_in_the_place_of_a_download_is_not_written_through(server: Server, tmp_path: Path, name: str) -> None:
    (tmp_path / "precious").write_text("mine")
    (tmp_path / name).symlink_to(tmp_path / "precious")
    with pytest.raises(DownloadError, match="expected no link at"):
        fetch(server.url, tmp_path / "data.bin")
    assert (tmp_path / "precious").read_text() == "mine"


def test_only_web_addresses(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    with pytest.raises(DownloadError, match="expected an https address"):
        fetch((tmp_path / "secret").as_uri(), tmp_path / "copy")
    assert names(tmp_path) == ["secret"]
