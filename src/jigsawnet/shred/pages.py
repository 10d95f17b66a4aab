"""Pages to tear: rendered text, forms and tables, black on white, made up from a seed."""

from __future__ import annotations

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from jigsawnet.types import UInt8Array

_SYLLABLES = tuple(
    "an be cor di el fa gor hin is jo ka lum mi nor ob pe qui ra sel tu ur vo wen xi yor zed tion ment ing".split()  # noqa: SIM905
)


def make_page(rng: np.random.Generator, width: int = 1100, height: int = 1500) -> UInt8Array:
    """One page ``(height, width, 3)`` RGB: a heading, then paragraphs, form lines and tables in random order."""
    paper = int(rng.integers(244, 256))
    page = Image.new("RGB", (width, height), (paper, paper, max(0, paper - int(rng.integers(0, 8)))))
    draw = ImageDraw.Draw(page)
    margin, y = width // 14, height // 18
    draw.text((margin, y), _words(rng, 4).title(), font=ImageFont.load_default(44), fill=(20, 20, 20))
    y += 84
    parts = (_paragraph, _form, _table)
    while y < height - height // 10:
        y = parts[int(rng.choice(3, p=(0.5, 0.2, 0.3)))](draw, rng, (margin, y, width - margin, height - height // 18)) + 28
    return np.asarray(page, dtype=np.uint8).copy()


def _words(rng: np.random.Generator, count: int) -> str:
    return " ".join("".join(rng.choice(_SYLLABLES, int(rng.integers(1, 4)))) for _ in range(count))


def _paragraph(draw: ImageDraw.ImageDraw, rng: np.random.Generator, box: tuple[int, int, int, int]) -> int:
    size = int(rng.choice((20, 24, 28)))
    font, y = ImageFont.load_default(size), box[1]
    for _ in range(int(rng.integers(3, 9))):
        if y + size > box[3]:
            break
        line = _words(rng, 24)
        while draw.textlength(line, font) > box[2] - box[0]:
            line = line.rsplit(" ", 1)[0]
        draw.text((box[0], y), line, font=font, fill=(25, 25, 30))
        y += int(1.4 * size)
    return y


def _form(draw: ImageDraw.ImageDraw, rng: np.random.Generator, box: tuple[int, int, int, int]) -> int:
    font, y = ImageFont.load_default(22), box[1]
    for _ in range(int(rng.integers(2, 5))):
        if y + 40 > box[3]:
            break
        label = _words(rng, 2).capitalize() + ":"
        draw.text((box[0], y), label, font=font, fill=(30, 30, 30))
        start = box[0] + 20 + int(draw.textlength(label, font))
        draw.line((start, y + 26, box[2], y + 26), fill=(60, 60, 60), width=2)
        draw.text((start + 10, y - 2), _words(rng, int(rng.integers(1, 4))), font=font, fill=(20, 30, 140))
        y += 46
    return y


def _table(draw: ImageDraw.ImageDraw, rng: np.random.Generator, box: tuple[int, int, int, int]) -> int:
    font = ImageFont.load_default(20)
    columns, rows = int(rng.integers(3, 7)), min(int(rng.integers(3, 8)), (box[3] - box[1]) // 36)
    width = (box[2] - box[0]) // columns
    for row in range(rows):
        for column in range(columns):
            x, y = box[0] + column * width, box[1] + row * 36
            draw.rectangle((x, y, x + width, y + 36), outline=(90, 90, 90), width=1)
            text = str(int(rng.integers(1, 99999))) if column else _words(rng, 1)
            draw.text((x + 8, y + 7), text, font=font, fill=(30, 30, 30))
    return box[1] + rows * 36
