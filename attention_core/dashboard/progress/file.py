"""Progress as a small file: to carry to another browser, or to hand in.

What comes back is a stranger's: it is read with care, and only answers to questions that there are
are taken up.
"""

import json
from collections.abc import Iterable

from attention_core.checks import require
from attention_core.dashboard.catalogue import TITLES
from attention_core.dashboard.progress.entry import Entry, read_entry

VERSION = 1
LARGEST = 100_000  # bytes; all questions of the lesson, answered at length, take a tenth of it


def write_progress(entries: Iterable[Entry]) -> bytes:
    """The entries as JSON, UTF-8, with the format and its version."""
    content = {
        "format": "attention-lesson-progress",
        "version": VERSION,
        "entries": [vars(entry) for entry in entries],
    }
    return json.dumps(content, ensure_ascii=False, indent=2).encode()


def read_progress(file: bytes) -> tuple[list[Entry], int]:
    """The entries for questions of the catalogue, and how many others the file holds.

    Raises ValueError, with what to do, for a file that `write_progress` did not write.
    """
    require(len(file) <= LARGEST, f"A progress file has {LARGEST:,} bytes at most: {len(file):,}.")
    try:
        content = json.loads(file.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        content = None
    match content:
        case {
            "format": "attention-lesson-progress",
            "version": int(version),
            "entries": list(records),
        } if version is not True:
            if version != VERSION:
                raise ValueError(
                    f"This file is of another version than {VERSION}, the one that this app reads: "
                    "save your progress again from an app of the same age."
                )
            found = filter(None, map(read_entry, records))
            entries = {entry.exercise: entry for entry in found if entry.exercise in TITLES}
            return list(entries.values()), len(records) - len(entries)
    raise ValueError("This is not a progress file: choose one that “Save my progress” has made.")
