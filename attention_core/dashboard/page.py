"""What every page imports: its frame, the controls, charts and panels, what can be taken away."""

from attention_core.dashboard import controls
from attention_core.dashboard.charts.chart import show, show_tables, yield_to_browser
from attention_core.dashboard.charts.heatmap import heatmap
from attention_core.dashboard.export.notebook_section import displayed
from attention_core.dashboard.export.page_export import keep_section
from attention_core.dashboard.export.weight_files import Matrix
from attention_core.dashboard.frame import arriving, close_page, open_page
from attention_core.dashboard.panels.agreement import show_agreement, show_overflow
from attention_core.dashboard.panels.formula import formula
from attention_core.dashboard.panels.source import show_source
from attention_core.dashboard.panels.value_errors import show_value_errors

__all__ = [
    "Matrix",
    "arriving",
    "close_page",
    "controls",
    "displayed",
    "formula",
    "heatmap",
    "keep_section",
    "open_page",
    "show",
    "show_agreement",
    "show_overflow",
    "show_source",
    "show_tables",
    "show_value_errors",
    "yield_to_browser",
]
