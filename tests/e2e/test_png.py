# SPDX-License-Identifier: BSD-2-Clause
"""Flame graphs as PNG: the boxes and colours of the SVG in pixels."""
import os
import re
import struct
import subprocess
import zlib

import contract
import pytest
from conftest import WICK

SCALE, HEAD = 2, 84
STACKS = ("app;main;parse;read 300", "app;main;parse 200", "app;main;write 250",
          "app;main;sys_write_[k] 150", "app;main;<b>&\x1b[31m\u202e\xff 100")


@pytest.fixture(autouse=True)
def has_cairo(wick):
    if "cairo" not in wick.ok("--version").stdout:
        pytest.skip("wick is built without cairo")


class Picture:
    """A PNG as wick writes it: 8 bits of red, green and blue, each row as difference."""

    def __init__(self, data):
        assert data[:8] == b"\x89PNG\r\n\x1a\n"
        at, packed, kinds = 8, b"", []
        while at < len(data):
            size, = struct.unpack(">I", data[at:at + 4])
            kind, body = data[at + 4:at + 8], data[at + 8:at + 8 + size]
            assert struct.unpack(">I", data[at + 8 + size:at + 12 + size])[0] == zlib.crc32(kind + body)
            if kind == b"IHDR":
                self.width, self.height = struct.unpack(">II", body[:8])
                assert body[8:] == b"\x08\x02\0\0\0"
            packed += body if kind == b"IDAT" else b""
            kinds.append(kind)
            at += 12 + size
        assert kinds[0] == b"IHDR" and kinds[-1] == b"IEND"
        self.row_bytes = 1 + 3 * self.width
        self.rows = zlib.decompress(packed)
        assert len(self.rows) == self.height * self.row_bytes
        assert set(self.rows[::self.row_bytes]) == {2}

    def pixel(self, x, y):
        first = 1 + 3 * int(x)
        return tuple(sum(self.rows[first + c:(int(y) + 1) * self.row_bytes:self.row_bytes]) & 0xff
                     for c in range(3))


def draw(wick, source, name, *options):
    wick.ok("flame", source, "-o", name, *options)
    return name.read_bytes()


@pytest.fixture
def folded(tmp_path):
    path = tmp_path / "x.folded"
    path.write_bytes("".join(line + "\n" for line in STACKS).encode("utf-8", "surrogateescape"))
    return path


def boxes(svg):
    """(left, width, line, colour) of each box of an SVG."""
    style = dict(re.findall(r"\.wick-flame \.(\w+) \{ fill: #(\w{6}); \}",
                            svg.split("@media", 1)[0]))
    line = None
    for part in re.findall(r'<g transform="translate\(0 (\d+)\)">|<rect x="([\d.]+)" width="([\d.]+)" '
                           r'height="17" (?:class="(\w+)[ \w]*"|fill="#(\w{6})")', svg):
        if part[0]:
            line = int(part[0])
        else:
            yield float(part[1]), float(part[2]), line, style[part[3]] if part[3] else part[4]


@pytest.mark.parametrize("options", ((), ("--icicle", "--colors", "hash", "--width", "600"),
                                     ("--inverted", "--colors", "heat")))
def test_boxes_have_the_colours_of_the_svg(wick, folded, tmp_path, options):
    svg = draw(wick, folded, tmp_path / "x.svg", *options).decode()
    png = Picture(draw(wick, folded, tmp_path / "x.png", *options))
    width, height = map(int, re.search(r'width="(\d+)" height="(\d+)"', svg).groups())
    assert (png.width, png.height) == (SCALE * width, SCALE * height)
    found = list(boxes(svg))
    assert len(found) >= 7
    for left, wide, line, color in found:
        # Below the letters: the middle may be one of them.
        got = png.pixel(SCALE * (left + wide / 2), SCALE * (HEAD + line + 16))
        assert "%02x%02x%02x" % got == color, (left, line)
    assert png.pixel(1, 1) == (255, 255, 255)


def test_the_same_profile_gives_the_same_picture(wick, folded, tmp_path):
    assert draw(wick, folded, tmp_path / "a.png") == draw(wick, folded, tmp_path / "b.png")


def test_names_are_written_into_their_boxes(wick, tmp_path):
    path = tmp_path / "x.folded"
    path.write_text(f"app;{'wide' * 500} 1\n")
    png = Picture(draw(wick, path, tmp_path / "x.png"))
    rows = range(SCALE * (HEAD + 3), SCALE * (HEAD + 14), 3)  # of the highest box
    assert any(sum(png.pixel(x, y)) < 200 for x in range(30, 90, 2) for y in rows)
    assert all(png.pixel(x, y) == (255, 255, 255)  # the margins
               for x in (4, png.width - 4) for y in rows)


def test_a_comparison_can_be_a_png(wick, folded, tmp_path):
    other = tmp_path / "y.folded"
    other.write_text("app;main;parse;read 900\napp;main;new_one 90\n")
    wick.ok("diff", folded, other, "-o", tmp_path / "d.png")
    assert Picture((tmp_path / "d.png").read_bytes()).width == SCALE * 1200


@pytest.mark.parametrize("depth, scale, rows", ((1200, 1, 1201), (5000, 1, 3632)))
def test_what_is_too_high_is_made_to_fit(wick, tmp_path, depth, scale, rows):
    path = tmp_path / "deep.folded"
    path.write_text(";".join(["app"] + ["f"] * (depth - 1)) + " 1\n")
    png = Picture(draw(wick, path, tmp_path / "x.png", "--width", "200"))
    assert (png.width, png.height) == (200 * scale, (HEAD + 18 * rows + 58) * scale)
    assert png.height <= 65535


def test_what_is_too_wide_is_refused(wick, folded, tmp_path):
    done = wick.run("flame", folded, "-o", tmp_path / "x.png", "--width", "40000")
    assert done.returncode == contract.USAGE and "at most 32767 px wide" in done.stderr
    assert not (tmp_path / "x.png").exists()


def test_without_the_library_everything_else_works(folded, tmp_path):
    (tmp_path / "libcairo.so.2").touch()  # takes the place of the real one
    env = {**os.environ, "LD_LIBRARY_PATH": str(tmp_path)}
    for name, status in (("x.svg", 0), ("x.png", contract.FAILED)):
        done = subprocess.run([WICK, "flame", folded, "-o", tmp_path / name], env=env, text=True,
                              capture_output=True, timeout=60, check=False)
        assert done.returncode == status and (tmp_path / name).exists() == (status == 0)
    assert "libcairo.so.2" in done.stderr and "write an SVG" in done.stderr
