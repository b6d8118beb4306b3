"""What a link can hide from those who follow it: solutions, and controls whose values it fixes.

    /qkv_formula?qkv_seed=7&hide=qkv_seed&hide=solutions

The address stays in the learner's hands, so this keeps a class on track; it locks nothing away.
"""

import re
from dataclasses import dataclass, field

import streamlit as st

HIDE, SOLUTIONS = "hide", "solutions"
MOST = 50  # names that one link can hide
_NAME = re.compile(r"solutions|device|dtype|[a-z]+_\w{1,40}", re.ASCII)


@dataclass
class SharedLink:
    """names  what is hidden: keys of controls, or SOLUTIONS
    fixed     by key, the values that the link gave for hidden controls
    """

    names: list[str] = field(default_factory=list)
    fixed: dict[str, list[str]] = field(default_factory=dict)

    def take_up(self) -> None:
        """Remember what the link hides, and write it back where a change of page dropped it."""
        given = st.query_params
        if HIDE in given:
            self.names = [name for name in given.get_all(HIDE)[:MOST] if _NAME.fullmatch(name)]
            self.fixed |= {name: given.get_all(name) for name in self.names if name in given}
        for name, values in {HIDE: self.names, **self.fixed}.items():
            if name not in given and values:
                given[name] = values
