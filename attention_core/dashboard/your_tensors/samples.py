"""Three small files that are shown until the learner uploads one (made by scripts/sample_heads)."""

from dataclasses import dataclass
from pathlib import Path

from attention_core.dashboard.your_tensors.tensor_files.loaded import Loaded
from attention_core.dashboard.your_tensors.tensor_files.reading import read_tensors

FOLDER = Path(__file__).with_name("sample_files")


@dataclass(frozen=True)
class Sample:
    """A file that ships with the project, a question to ask before looking, and its answer."""

    title: str
    file: str
    predict: str
    answer: str

    def load(self) -> Loaded:
        """Through the same door as a learner's own file."""
        return read_tensors((FOLDER / self.file).read_bytes())


SAMPLES = (
    Sample(
        "A head that looks back one token",
        "looks_back.safetensors",
        "One of these four heads puts nearly all of its weight on the token before. Where in its "
        "picture is the bright line, and what is its mean distance?",
        "Head 2. Key *i* − 1 is one column to the left of key *i*, so the line runs just below "
        "the diagonal. The mean distance is nearly 1, and one key is enough for 90 % of the "
        "weight. Query 0 has no token before it: it must look at itself.",
    ),
    Sample(
        "An attention sink",
        "sink.npz",
        "In trained language models many heads give most of their weight to the very first token, "
        "whatever it is: it is called an *attention sink*. What does a sink look like in a "
        "picture: a row, a column, or a diagonal?",
        "A column: every query puts its weight on key 0. Here only the second layer (batch "
        "element 1) has sinks. A head that finds nothing useful must still give its weight "
        "to something, as its rows sum to 1 (Xiao et al. 2023, “Efficient Streaming Language "
        "Models with Attention Sinks”).",
    ),
    Sample(
        "Cross-attention",
        "cross.npz",
        "Queries come from one sequence of 7 tokens, keys from another of 11, as in translation. "
        "How many rows and columns does the picture have, and may a query look at the last key?",
        "7 rows and 11 columns. There is no causal mask: a query may look at every key of the "
        "other sequence. Head 0 reads it from left to right, head 1 from right to left, and less "
        "sharply. *i* and *j* count different tokens here, so read the distance with care.",
    ),
)
