"""Files of every kind that learners send by mistake, or to try the app."""

import io
import json
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageOps

from attention_core.dashboard import one_at_a_time
from attention_core.dashboard.causal_masking import image_file, picture_parts
from attention_core.dashboard.causal_masking.image_file import MAX_MEGABYTES, decode_image
from attention_core.dashboard.causal_masking.picture_parts import (
    MAX_PARTS,
    MAX_SCANS,
    PictureError,
)
from attention_core.dashboard.one_at_a_time import Busy
from tests.support.heavy_pictures import chunk, jpeg, png

ROOT = Path(__file__).parents[4]

RED, WHITE = torch.tensor([1.0, 0, 0]), torch.ones(3)


def file(image: Image.Image, kind: str = "PNG", **options: Any) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def noise(width: int = 53, height: int = 71) -> Image.Image:
    pixels = np.random.default_rng(0).integers(0, 256, (height, width, 3), np.uint8)
    return Image.fromarray(pixels)


JPEG = file(noise(), "JPEG")


def png_header(width: int, height: int, bit_depth: int = 8) -> bytes:
    """A PNG that promises a size and holds no pixels."""
    header = b"IHDR" + struct.pack(">IIBBBBB", width, height, bit_depth, 2, 0, 0, 0)
    data = b"IDAT" + zlib.compress(b"")
    chunks = [
        struct.pack(">I", len(c) - 4) + c + struct.pack(">I", zlib.crc32(c))
        for c in (header, data, b"IEND")
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def is_all(image: torch.Tensor, colour: torch.Tensor, tolerance: float = 0.0) -> bool:
    assert image.shape == (48, 48, 3)
    return bool((image - colour).abs().max() <= tolerance)


def test_a_png_of_the_right_size_is_taken_as_it_is() -> None:
    image = noise(48, 48)
    expected = torch.from_numpy(np.array(image)).float() / 255
    assert torch.equal(decode_image(file(image)), expected)


def test_the_middle_square_is_shown() -> None:
    wide = Image.new("RGB", (3 * 48, 48), "blue")
    wide.paste("red", (48, 0, 96, 48))
    assert is_all(decode_image(file(wide)), RED)
    assert is_all(decode_image(file(wide.transpose(Image.Transpose.ROTATE_90))), RED)


def test_the_picture_is_turned_as_the_camera_says() -> None:
    image = Image.new("RGB", (96, 96), "white")
    image.paste("red", (0, 0, 96, 48))  # the sensor saw red on top
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned by 90 degrees clockwise: red is on the right
    for kind in ("JPEG", "PNG"):
        decoded = decode_image(file(image, kind, exif=exif))
        assert is_all(decoded[:, 24:].repeat(1, 2, 1), RED, 0.1)
        assert is_all(decoded[:, :24].repeat(1, 2, 1), WHITE, 0.1)


@pytest.mark.parametrize(
    ("image", "kind", "colour"),
    [
        (Image.new("RGB", (1, 1), "red"), "PNG", RED),
        (Image.new("RGB", (1, 999), "red"), "PNG", RED),
        (Image.new("RGBA", (60, 50), (255, 0, 0, 255)), "PNG", RED),
        (Image.new("RGBA", (60, 50), (0, 0, 0, 0)), "PNG", WHITE),
        (Image.new("LA", (60, 50), (0, 0)), "PNG", WHITE),
        (Image.new("RGB", (60, 50), "red").convert("P"), "PNG", RED),
        (Image.new("1", (60, 50), 1), "PNG", WHITE),
        (Image.new("L", (60, 50), 51), "PNG", WHITE / 5),
        (Image.fromarray(np.full((60, 50), 0x3333, np.uint16)), "PNG", WHITE / 5),
        (Image.new("L", (60, 50), 51), "JPEG", WHITE / 5),
        (Image.new("CMYK", (60, 50), (0, 255, 255, 0)), "JPEG", RED),
        (Image.new("RGB", (60, 50), "red"), "MPO", RED),  # what many phones call a JPEG
        (Image.new("RGB", (4000, 3000), "red"), "JPEG", RED),
    ],
    ids=lambda part: part.mode if isinstance(part, Image.Image) else None,  # not its address
)
def test_every_mode_becomes_red_green_blue(
    image: Image.Image, kind: str, colour: torch.Tensor
) -> None:
    assert is_all(decode_image(file(image, kind)), colour, 0.02)


def test_a_palette_may_be_transparent() -> None:
    image = Image.new("P", (60, 50), 0)
    assert is_all(decode_image(file(image, transparency=0)), WHITE)


def test_an_animation_shows_its_first_picture() -> None:
    first, second = Image.new("RGB", (48, 48), "red"), Image.new("RGB", (48, 48), "blue")
    data = file(first, save_all=True, append_images=[second])
    assert is_all(decode_image(data), RED)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "cannot be read"),
        (b"This is text, renamed .png", "cannot be read"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "cannot be read"),
        (file(noise())[:-200], "cannot be read"),
        (file(noise(), "JPEG")[:-200], "cannot be read"),
        (file(noise())[:40], "cannot be read"),
        (file(noise(), "GIF"), "cannot be read"),
        (file(noise(), "BMP"), "cannot be read"),
        (file(noise(), "TIFF"), "cannot be read"),
        (png_header(20000, 20000), "25 million pixels"),
        (png_header(10000, 9000), "25 million pixels"),
        (png(25_000_000, 1, "P"), "side of more than 20,000 pixels"),
        (png(1, 25_000_000, "P"), "side of more than 20,000 pixels"),
        (png(20_001, 1), "side of more than 20,000 pixels"),
        (jpeg(20_001, 1), "side of more than 20,000 pixels"),
        (jpeg(5000, 5000), "This JPEG is progressive"),
        (jpeg(4000, 4000, sampling=(0x11,) * 4), "This JPEG is progressive"),
        (jpeg(5000, 5000, progressive=False, at_once=1), "This JPEG is progressive"),
        (jpeg(9, 9, scans=MAX_SCANS + 1), "too many parts"),
        (jpeg(9, 9, sampling=(0,)), "cannot be read"),
        (jpeg(9, 9)[:99], "cannot be read"),
        (JPEG[:2] + b"\xff\xfe\0\2" * MAX_PARTS + JPEG[2:], "too many parts"),
        (png(9, 9, before=chunk(b"tEXt") * MAX_PARTS), "too many parts"),
        (png(9, 9, before=chunk(b"IDAT") * MAX_PARTS), "too many parts"),
        (png_header(0, 0), "cannot be read"),
        (png_header(48, 48), "cannot be read"),
        (file(noise()) + bytes(MAX_MEGABYTES * 1024**2), "larger than 5 MB"),
    ],
    ids=lambda value: value if isinstance(value, str) else f"{value[:8]!r} {len(value)}",
)
def test_other_files_get_one_friendly_sentence(data: bytes, says: str) -> None:
    with pytest.raises(PictureError, match=says) as caught:
        decode_image(data)
    assert str(caught.value).count(".") == 1


def test_a_bomb_is_refused_before_a_pixel_is_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    loads: list[Callable[[], object]] = []
    monkeypatch.setattr("PIL.ImageFile.ImageFile.load", loads.append)
    with pytest.raises(PictureError, match="pixels"):
        decode_image(file(Image.new("1", (6000, 5000))))  # a file of 4 kB
    assert loads == []


def test_the_largest_pictures_take_what_they_may() -> None:
    """Four bytes for each of 25 million pixels, and a few rows of them; in every mode."""
    if not Path("/proc/self/clear_refs").exists():
        pytest.skip("only Linux tells the peak of a process anew")
    command = [sys.executable, "-m", "tests.support.heavy_pictures"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    peaks = json.loads(run.stdout)
    assert len(peaks) > 20 and peaks["PNG RGB"] > 90  # it does measure
    assert {name: peak for name, peak in peaks.items() if peak > 120} == {}


def test_a_pixel_is_the_mean_of_those_it_stands_for() -> None:
    image = noise(480, 960)
    middle = np.asarray(image, float)[240:720].reshape(48, 10, 48, 10, 3).mean((1, 3))
    assert np.abs(decode_image(file(image)).numpy() * 255 - middle).max() <= 1
    # Sizes that 48 does not divide, but with no pixel half in one cell and half in the next.
    for image in (noise(80, 112), noise(976, 336), noise(16, 32)):
        whole = ImageOps.fit(image, (48, 48), Image.Resampling.BOX)
        assert np.abs(decode_image(file(image)).numpy() * 255 - np.asarray(whole, int)).max() <= 1


def test_what_nobody_sees_is_never_given_to_a_decoder() -> None:
    much = zlib.compress(bytes(2**20))
    unseen = chunk(b"iCCP", b"x\0\0" + much) * 3 + chunk(b"zTXt", b"a\0\0" + much)
    unseen += chunk(b"eXIf", bytes(2**17)) + chunk(b"acTL", bytes(8)) + chunk(b"fdAT", bytes(9))
    assert picture_parts.picture_parts(png(9, 9, before=unseen)).data == png(9, 9)

    segments = [(0xE2, b"ICC_PROFILE\0"), (0xED, b"Photoshop 3.0\0"), (0xFE, b""), (0xE1, b"http:")]
    unseen = b"".join(
        bytes((0xFF, kind)) + struct.pack(">H", 60_002) + data.ljust(60_000, b"\xff")
        for kind, data in segments
    )
    film = b"\xff\xda" * 200  # some phones put one behind the picture
    dressed = JPEG[:2] + unseen + b"\0\0\0" + JPEG[2:] + film
    assert picture_parts.picture_parts(dressed).data == JPEG
    assert torch.equal(decode_image(dressed), decode_image(JPEG))


def test_a_picture_in_several_scans_is_one_like_any_other() -> None:
    image = noise(480, 480).resize((48, 48), Image.Resampling.BOX).resize((480, 480))
    plain, in_scans = (file(image, "JPEG", progressive=p, quality=95) for p in (False, True))
    assert in_scans.count(b"\xff\xda") > 5
    held = [picture_parts.picture_parts(data).held for data in (plain, in_scans)]
    assert held == [0, 3]  # two bytes, and a quarter of the colours
    assert (decode_image(in_scans) - decode_image(plain)).abs().max() < 0.02


def test_what_takes_long_is_refused_before_others_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Image, "open", lambda *_, **__: pytest.fail("a decoder has begun"))
    with image_file._TURNS.turn(), pytest.raises(PictureError, match="too many parts"):
        decode_image(jpeg(5000, 5000, scans=20_000))


def test_nobody_waits_for_others_without_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_at_a_time, "PATIENCE", 0.01)
    with image_file._TURNS.turn(), pytest.raises(Busy, match="please try again in a moment"):
        decode_image(JPEG)
    assert decode_image(JPEG).shape == (48, 48, 3)  # the turn was given back
    with pytest.raises(PictureError):
        decode_image(b"")
    assert decode_image(JPEG).shape == (48, 48, 3)


@given(place=st.integers(0, 400), byte=st.integers(0, 255), kind=st.sampled_from(["PNG", "JPEG"]))
@settings(deadline=None)
def test_damage_gives_a_picture_or_the_friendly_error(place: int, byte: int, kind: str) -> None:
    data = bytearray(file(noise(17, 13), kind))
    data[place % len(data)] = byte
    try:
        image = decode_image(bytes(data))
    except PictureError:
        return
    assert image.shape == (48, 48, 3)
    assert image.min() >= 0 and image.max() <= 1
