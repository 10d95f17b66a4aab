"""Last stage: an `Assembly` → what a person looks at. Pure: arrays and strings, nothing is written here.

`straighten_components` turns components upright (apply it first, so that every output shares the same poses), `render_assembly`
paints the picture, `assembly_svg` writes the editable drawing, `lay_out` says where each piece lies in both.
"""

from __future__ import annotations

from jigsawnet.render.image import render_assembly
from jigsawnet.render.layout import Layout, lay_out, straighten_components
from jigsawnet.render.svg import assembly_svg

__all__ = ["Layout", "assembly_svg", "lay_out", "render_assembly", "straighten_components"]
