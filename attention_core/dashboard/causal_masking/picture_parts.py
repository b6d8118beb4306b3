"""The parts of a PNG or JPEG file that its picture is made of, before anything is decoded.

All else in such a file (texts, profiles, previews, films) is not seen here, and whoever unpacks it
can be made to work for seconds or to take hundreds of megabytes. So a decoder never gets it.
"""

import re
from dataclasses import dataclass

MAX_PARTS = 10_000  # a file of 5 MB in the smallest parts that programs write has 1,300
MAX_SCANS = 100  # of a progressive JPEG: ten or twelve are usual, and each takes the same time
LARGEST_EXIF = 2**16
_TOO_MANY_PARTS = "The picture is cut into too many parts: please save it again, or choose another."
_PNG = b"\x89PNG\r\n\x1a\n"
_CHUNKS = (b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND", b"eXIf")
_MARKER = re.compile(rb"\xff+([^\x00\xff])", re.DOTALL)
_SCAN, _END, _SCAN_BEGINS = 0xDA, b"\xff\xd9", b"\xff\xda"
_FRAMES = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}
_PROGRESSIVE = {0xC2, 0xC6, 0xCA, 0xCE}
_TABLES = {0xC4, 0xCC, 0xDB, 0xDD}
_APPLICATIONS = {0xE0: b"JFIF\0", 0xE1: b"Exif\0\0", 0xEE: b"Adobe"}  # colours, and which way is up


class PictureError(ValueError):
    """The file is no picture that this app shows; the message is for the learner."""


@dataclass(frozen=True)
class Parts:
    """data   a file of these parts alone
    held   bytes for each pixel that a decoder of JPEG holds until it has seen the last scan
    """

    data: bytes
    held: float = 0.0


def picture_parts(data: bytes) -> Parts:
    """What a decoder needs of the file; a file of neither kind is for the decoder to refuse.

    Raises PictureError for more parts or scans than any camera or program makes.
    """
    if data.startswith(_PNG):
        return _png_parts(data)
    return _jpeg_parts(data) if data.startswith(b"\xff\xd8") else Parts(data)


def _png_parts(data: bytes) -> Parts:
    kept, at = [_PNG], len(_PNG)
    for _ in range(MAX_PARTS):
        length, kind = int.from_bytes(data[at : at + 4]), data[at + 4 : at + 8]
        end = at + length + 12
        if kind in _CHUNKS and (kind != b"eXIf" or length <= LARGEST_EXIF):
            kept.append(data[at:end])
        if kind == b"IEND" or end >= len(data):
            return Parts(b"".join(kept))
        at = end
    raise PictureError(_TOO_MANY_PARTS)


def _jpeg_parts(data: bytes) -> Parts:
    kept, at = {"start": b"\xff\xd8"}, 2
    frame, progressive = b"", False
    for number in range(MAX_PARTS):
        found = _MARKER.search(data, at)
        if not found:
            return Parts(b"".join(kept.values()))  # no scan: for the decoder to refuse
        kind, at = found[1][0], found.end()
        if kind == _SCAN:
            at_once = data[at + 2 : at + 3] == frame[7:8] and not progressive  # all components
            held = 0.0 if at_once else 2 * _samples_a_pixel(frame)
            return Parts(b"".join(kept.values()) + _scans(data, at), held)
        segment = data[at : at + int.from_bytes(data[at : at + 2])]
        part = b"\xff" + found[1] + segment
        if kind in _FRAMES | _TABLES:
            kept[f"part {number}"] = part
        elif kind in _APPLICATIONS and segment[2:].startswith(_APPLICATIONS[kind]):
            kept.setdefault(f"application {kind}", part)
        if kind in _FRAMES:
            frame, progressive = segment, kind in _PROGRESSIVE
        at += len(segment)
    raise PictureError(_TOO_MANY_PARTS)


def _samples_a_pixel(frame: bytes) -> float:
    """Of all components: 3 if each has all its samples, 1.5 if colours have a quarter of theirs."""
    across, down = zip(*((factors >> 4, factors & 15) for factors in frame[9::3]), strict=True)
    samples: int = sum(a * d for a, d in zip(across, down, strict=True))
    most: int = max(across) * max(down)
    return samples / most


def _scans(data: bytes, first: int) -> bytes:
    """From the first scan to the end of the picture, where a film may follow."""
    end = data.find(_END, first)
    scans = _SCAN_BEGINS + data[first : end + 2 if end >= 0 else len(data)]
    if scans.count(_SCAN_BEGINS) > MAX_SCANS:
        raise PictureError(_TOO_MANY_PARTS)
    return scans
