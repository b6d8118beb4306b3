"""Small files that make large pictures, and files that make a decoder work for long.

Run as a program it decodes the largest pictures that are let in, and prints how much memory each
took at its peak: `python -m tests.support.heavy_pictures`. On Linux only.
"""

import json
import re
import struct
import zlib
from collections.abc import Iterator
from multiprocessing import get_context
from pathlib import Path

SIDE = 5000  # squared it is 25 million pixels
MODES = {  # of a PNG file: bits a sample, and its colour type
    **{"1": (1, 0), "L": (8, 0), "I;16": (16, 0), "RGB": (8, 2), "RGB 16": (16, 2)},
    **{"P 1": (1, 3), "P": (8, 3), "LA": (8, 4), "LA 16": (16, 4)},
    **{"RGBA": (8, 6), "RGBA 16": (16, 6)},
}
CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
# Adam7: first column and row of each pass, then the steps between its columns and rows.
PASSES = (
    *((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4)),
    *((0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)),
)
WHOLE = ((0, 0, 1, 1),)


def chunk(kind: bytes, data: bytes = b"") -> bytes:
    """One part of a PNG file."""
    body = kind + data
    return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))


def png(
    width: int, height: int, mode: str = "RGB", *, interlaced: bool = False, before: bytes = b""
) -> bytes:
    """A black picture of any size, packed well; `before` goes before its pixels."""
    depth, colour = MODES[mode]
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlaced)
    palette = chunk(b"PLTE", bytes(3 * 2**depth)) if colour == 3 else b""
    left = 0
    for x, y, across, down in PASSES if interlaced else WHOLE:
        columns, rows = -(-(width - x) // across), -(-(height - y) // down)
        left += rows * (1 + -(-columns * depth * CHANNELS[colour] // 8))
    packer, packed = zlib.compressobj(1), b""
    while left > 0:
        packed += packer.compress(bytes(min(left, 2**20)))
        left -= 2**20
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + palette
        + before
        + chunk(b"IDAT", packed + packer.flush())
        + chunk(b"IEND")
    )


def jpeg(
    width: int,
    height: int,
    *,
    sampling: tuple[int, ...] = (0x11, 0x11, 0x11),
    progressive: bool = True,
    at_once: int = 0,
    scans: int = 1,
) -> bytes:
    """A grey picture without any data: a decoder makes do with zeros, and takes all its memory.

    sampling  of each component, across and down in one byte
    at_once   how many components are in the first scan; 0 for all of them
    """
    n = len(sampling)
    at_once = at_once or n
    frame = struct.pack(">HBHHB", 8 + 3 * n, 8, height, width, n)
    frame += b"".join(bytes((number, factors, 0)) for number, factors in enumerate(sampling))
    lengths = bytes([1, *[0] * 15])  # a Huffman table of one code
    first = b"".join(bytes((number, 0)) for number in range(at_once))
    spectrum = bytes((0, 0 if progressive else 63, 0))
    more = b"\xff\xda" + struct.pack(">HBBB", 8, 1, 0, 0) + bytes((1, 63, 0))
    return (
        b"\xff\xd8\xff\xdb"
        + struct.pack(">HB", 67, 0)
        + bytes([1] * 64)
        + (b"\xff\xc2" if progressive else b"\xff\xc0")
        + frame
        + b"".join(b"\xff\xc4" + struct.pack(">HB", 20, t) + lengths + b"\0" for t in (0, 0x10))
        + b"\xff\xda"
        + struct.pack(">HB", 6 + 2 * at_once, at_once)
        + first
        + spectrum
        + more * (scans - 1)
        + b"\xff\xd9"
    )


def largest_let_in() -> Iterator[tuple[str, bytes]]:
    """The largest pictures of each kind that `decode_image` takes."""
    for mode in MODES:
        yield f"PNG {mode}", png(SIDE, SIDE, mode)
    for mode in ("P", "RGBA 16"):
        yield f"PNG {mode}, interlaced", png(SIDE, SIDE, mode, interlaced=True)
    for size in ((1250, 20_000), (20_000, 1250)):
        yield f"PNG P, {size}", png(*size, "P")
    yield "PNG P, transparent", png(SIDE, SIDE, "P", before=chunk(b"tRNS", bytes(256)))
    yield "JPEG, grey", jpeg(SIDE, SIDE, sampling=(0x11,))
    yield "JPEG, a quarter of the colours", jpeg(SIDE, SIDE, sampling=(0x22, 0x11, 0x11))
    yield "JPEG, all colours", jpeg(4082, 4082, scans=100)
    yield "JPEG, four components", jpeg(3535, 3535, sampling=(0x11,) * 4)
    yield "JPEG, one after the other", jpeg(4082, 4082, progressive=False, at_once=1)
    yield "JPEG, not progressive", jpeg(SIDE, SIDE, sampling=(0x11,) * 4, progressive=False)


def memory(what: str) -> float:
    """VmRSS, what this process has now, or VmHWM, the most since the last reset, in MB."""
    found = re.search(rf"{what}:\s+(\d+) kB", Path("/proc/self/status").read_text("utf-8"))
    assert found
    return int(found[1]) * 1024 / 10**6


def peak(data: bytes) -> float:
    """By how many MB the decoding of this picture goes above what was there before."""
    from attention_core.dashboard.causal_masking.image_file import decode_image

    before = memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5", "utf-8")  # the peak begins anew
    decode_image(data)
    return memory("VmHWM") - before


def peaks() -> dict[str, float]:
    """The peak of each of the largest pictures, in a process of its own: memory is kept for later
    use, so a second picture in the same process would seem to take none."""
    for first in (png(99, 99), jpeg(99, 99)):
        peak(first)  # what comes with the first picture stays
    with get_context("fork").Pool(1, maxtasksperchild=1) as fresh:
        return {name: fresh.apply(peak, (data,)) for name, data in largest_let_in()}


if __name__ == "__main__":
    print(json.dumps(peaks()))
