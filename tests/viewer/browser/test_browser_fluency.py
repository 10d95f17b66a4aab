"""A thousand pieces are panned fluently."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.flaky(reruns=2)]

THOUSAND = """async () => {
    const side = 60, columns = 40, pieces = [], joins = [];
    const pictures = [];
    for (let k = 0; k < 16; k++) {
        const canvas = new OffscreenCanvas(side + 8, side + 8), ctx = canvas.getContext("2d");
        for (let n = 0; n < 40; n++) {
            ctx.fillStyle = `hsl(${(47 * k + 9 * n) % 360} 60% 55%)`;
            ctx.fillRect(4 + (n * 17) % side, 4 + (n * 29) % side, 14, 14);
        }
        pictures.push(await createImageBitmap(canvas));
    }
    workbench.api.picture = async (idx) => pictures[idx % pictures.length];
    for (let idx = 0; idx < 1000; idx++) {
        const outline = [], turn = (idx % 7) * 0.9;
        for (let n = 0; n < 60; n++) {
            const r = side / 2 + 2 * Math.sin(5 * n);
            outline.push([34 + r * Math.cos(n * Math.PI / 30), 34 + r * Math.sin(n * Math.PI / 30)]);
        }
        const x = (idx % columns) * side, y = Math.floor(idx / columns) * side;
        pieces.push({idx, name: `piece ${idx}`, width: side + 8, height: side + 8, outline, pose: [turn, x, y], component: 0,
                     confidence: (idx % 10) / 10, pinned: false, aside: false, fixed_by_person: false});
        const join = (i, end) => joins.push({i, j: idx, confidence: (idx % 13) / 13, status: "found", seam: [[x, y], end]});
        if (idx % columns) join(idx - 1, [x, y + side]);
        if (idx >= columns) join(idx - columns, [x + side, y]);
    }
    const start = Object.fromEntries(pieces.map((piece) => [piece.idx, piece.pose]));
    const components = [{id: 0, pieces: pieces.map((piece) => piece.idx)}];
    const pages = components.map((component) => ({...component, name: "", title: "Page 1"}));
    workbench.store.take({...workbench.store.state, unit_px: side, pieces, joins, start, components, pages});
    workbench.fitAll();
}"""

# Reading one pixel back makes the browser paint at once, so that the painting is in the time as well.
MILLISECONDS = """(frames) => {
    const {renderer, camera} = workbench;
    const begin = performance.now();
    for (let k = 0; k < frames; k++) {
        camera.pan(11, 4 * Math.sin(k / 7));
        renderer.draw();
        renderer.ctx.getImageData(0, 0, 1, 1);
    }
    return (performance.now() - begin) / frames;
}"""

FRAMES_PER_SECOND = """(frames) => new Promise((done) => {
    let [k, begin] = [0, performance.now()];
    const step = () => {
        workbench.camera.pan(-11, 4 * Math.sin(k / 7));
        if (k++ < frames) requestAnimationFrame(step);
        else done(1000 * frames / (performance.now() - begin));
    };
    requestAnimationFrame(step);
})"""


def test_a_thousand_pieces_are_panned_fluently(nine: Any, record_property: pytest.RecordProperty) -> None:
    nine.ask(THOUSAND)
    nine.idle()
    nine.click("#tab-pieces")
    assert nine.page.locator("#page-pieces li").count() == 50, "long lists come in pages"
    draws = nine.ask("() => workbench.renderer.layer.draws")
    milliseconds = nine.ask(MILLISECONDS, 120)
    per_second = nine.ask(FRAMES_PER_SECOND, 60)
    record_property("milliseconds_per_frame", round(milliseconds, 2))
    record_property("frames_per_second", round(per_second, 1))
    print(f"1,000 pieces: {milliseconds:.1f} ms per frame of work, {per_second:.0f} frames per second")
    assert nine.ask("() => workbench.renderer.layer.draws") > draws, "the pan went beyond what was drawn before"
    assert milliseconds < 33
