"""Documents to shred: pages of print in several scripts and sizes, forms, tables, handwriting, pictures, white margins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from jigsawnet.errors import InputError
from jigsawnet.types import UInt8Array

A4_INCH = (8.27, 11.69)
_SCRIPTS: tuple[tuple[str, str, float], ...] = (
    ("latin", "eeeeaaaiiooutttnnnssrrhlldcumwfgypbvkjxqzäöüéèçñ", 0.62),
    ("greek", "αααεεηιιοοσσςττννρρκκλλμππυδγθωφχβζξψ", 0.06),
    ("cyrillic", "ооееааиинннттссррввллккммддппуыьяяггззббчйхжшюцщэфё", 0.1),
    ("arabic", "اابتثجحخدذرزسشصضطظعغفقكللممننهووييى", 0.04),
    ("devanagari", "कखगघचछजझटठडढणतथदधनपफबभमयरलवशषसहाािीुूेैोौ", 0.04),
    ("han", "", 0.14),
)
_HAN = (0x4E00, 0x6800)


@dataclass(frozen=True, slots=True)
class Typefaces:
    """Font files by the script they can write; without any, Pillow's own, which writes Latin."""

    files: dict[str, tuple[Path, ...]]

    @staticmethod
    def find(folders: Sequence[Path]) -> Typefaces:
        """Try every font file in some folders with a letter of each script; symbols and bitmaps are left out."""
        found: dict[str, list[Path]] = {}
        for folder in folders:
            if not folder.is_dir():
                raise InputError(f"There is no folder of fonts {folder}.")
        for path in sorted(p for folder in folders for p in folder.rglob("*") if p.suffix.lower() in (".ttf", ".otf", ".ttc")):
            for script, letters, _ in _SCRIPTS:
                if _can_write(path, letters[-12:] if letters else "的国中"):
                    found.setdefault(script, []).append(path)
        return Typefaces({script: tuple(paths) for script, paths in found.items()})

    def names(self) -> list[str]:
        """The names of the files, in order, for keys."""
        return sorted({path.name for paths in self.files.values() for path in paths})


def _can_write(path: Path, letters: str) -> bool:
    """Whether the letters look different from each other and from what stands for a missing one."""
    try:
        font = ImageFont.truetype(str(path), 24)
        shapes = {bytes(font.getmask(letter)) for letter in letters + "\U0010fffe"}
    except (OSError, ValueError):
        return False
    return len(shapes) >= 0.9 * len(letters)


@dataclass(frozen=True, slots=True, eq=False)
class _Sheet:
    """A page in the making: what draws on it, its fonts, px per inch, and where the text stands (left, right, bottom)."""

    draw: ImageDraw.ImageDraw
    rng: np.random.Generator
    fonts: Typefaces
    dpi: float
    box: tuple[int, int, int]
    ink: int

    def font(self, script: str, points: float) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
        """A random font of a script, so many points high."""
        size = max(6, round(points * self.dpi / 72))
        files = self.fonts.files.get(script, ())
        return (
            ImageFont.truetype(str(self.rng.choice(np.array(files, object))), size) if files else ImageFont.load_default(size)
        )

    def script(self) -> str:
        """One that can be written."""
        known = [(s, w) for s, _, w in _SCRIPTS if s == "latin" or s in self.fonts.files]
        weights = np.array([w for _, w in known])
        return str(self.rng.choice(np.array([s for s, _ in known]), p=weights / weights.sum()))


def make_document(
    rng: np.random.Generator, fonts: Typefaces, dpi: float = 200.0, pictures: Sequence[UInt8Array] = ()
) -> UInt8Array:
    """One A4 page ``(H, W, 3)`` RGB, made up: paragraphs, forms, tables, handwriting, at times one of ``pictures``."""
    width, height = (round(inch * dpi) for inch in A4_INCH)
    paper = int(rng.integers(225, 256))
    page = Image.new("RGB", (width, height), (paper, paper, max(0, paper - int(rng.integers(0, 12)))))
    margin = rng.uniform(0.04, 0.14, 4) * (width, width, height, height)
    box = (round(margin[0]), width - round(margin[1]), height - round(margin[3]))
    sheet = _Sheet(ImageDraw.Draw(page), rng, fonts, dpi, box, int(rng.integers(0, 80)))
    script, points, y = sheet.script(), float(rng.choice((8, 9, 10, 10.5, 11, 12, 12, 14))), round(margin[2])
    font, spacing = sheet.font(script, points), float(rng.uniform(1.1, 2.0))
    kinds = (_paragraph, _paragraph, _paragraph, _heading, _table, _form, _handwriting, _figure)
    weights = np.array((3.0, 3.0, 3.0, 1.0, 0.6, 0.6, 0.5, 0.4 * bool(pictures)))
    while y < box[2]:
        kind: _Part = kinds[int(rng.choice(len(kinds), p=weights / weights.sum()))]
        if kind is _figure:
            y = _paste(page, sheet, y, pictures[int(rng.integers(len(pictures)))])
        else:
            y = kind(sheet, y, script, font, points, spacing)
        y += round(points / 72 * dpi * float(rng.choice((0.3, 0.8, 1.6))))
        if rng.random() < 0.04:
            y += round(rng.uniform(0.5, 3.0) * dpi)
    return np.asarray(page, np.uint8).copy()


_Font = ImageFont.FreeTypeFont | ImageFont.ImageFont
_Part = Callable[[_Sheet, int, str, _Font, float, float], int]


def _words(rng: np.random.Generator, script: str, count: int, rich: bool) -> list[str]:
    """Words of a script; without ``rich`` only letters that Pillow's own font has."""
    if script == "han":
        return ["".join(map(chr, rng.integers(*_HAN, int(rng.integers(4, 18))))) + "，" for _ in range(count)]
    letters = np.array(
        [letter for letter in next(text for name, text, _ in _SCRIPTS if name == script) if letter.isascii() or rich]
    )
    lengths = 1 + rng.poisson(4.2, count)
    words = ["".join(rng.choice(letters, n)) for n in lengths]
    if script not in ("arabic", "devanagari"):
        words = [w.capitalize() if rng.random() < 0.12 else w for w in words]
    words = [str(int(rng.integers(1, 30000))) if rng.random() < 0.05 else w for w in words]
    return [w + str(rng.choice([",", ".", ";"])) if rng.random() < 0.15 else w for w in words]


def _line(sheet: _Sheet, script: str, font: _Font, width: float) -> list[str]:
    """As many words as fit into so many px."""
    words, line = _words(sheet.rng, script, 28, bool(sheet.fonts.files)), list[str]()
    space = "" if script == "han" else " "
    for word in words:
        if sheet.draw.textlength(space.join([*line, word]), font) > width:
            break
        line.append(word)
    return line


def _paragraph(sheet: _Sheet, y: int, script: str, font: _Font, points: float, spacing: float) -> int:
    """Lines of text, ragged or justified."""
    left, right, bottom = sheet.box
    high, rng = points / 72 * sheet.dpi, sheet.rng
    justified, count = rng.random() < 0.5, int(rng.integers(2, 14))
    for k in range(count):
        if y + high > bottom:
            return bottom
        start = left + (round(1.5 * high) if k == 0 and rng.random() < 0.4 else 0)
        share = float(rng.uniform(0.2, 0.9)) if k == count - 1 else 1.0
        words = _line(sheet, script, font, (right - start) * share)
        if justified and k < count - 1 and len(words) > 1:
            sizes = [sheet.draw.textlength(w, font) for w in words]
            gap, x = (right - start - sum(sizes)) / (len(words) - 1), float(start)
            for word, size in zip(words, sizes, strict=True):
                sheet.draw.text((x, y), word, font=font, fill=(sheet.ink,) * 3)
                x += size + gap
        else:
            sheet.draw.text((start, y), ("" if script == "han" else " ").join(words), font=font, fill=(sheet.ink,) * 3)
        y += round(high * spacing)
    return y


def _heading(sheet: _Sheet, y: int, script: str, font: _Font, points: float, spacing: float) -> int:
    big = sheet.font(script, points * float(sheet.rng.uniform(1.2, 2.6)))
    text = " ".join(_line(sheet, script, big, (sheet.box[1] - sheet.box[0]) * 0.8)[:5])
    sheet.draw.text((sheet.box[0], y), text, font=big, fill=(sheet.ink,) * 3)
    return y + round(points * 2.6 / 72 * sheet.dpi * 1.3)


def _table(sheet: _Sheet, y: int, script: str, font: _Font, points: float, spacing: float) -> int:
    rng, (left, right, bottom) = sheet.rng, sheet.box
    columns, high = int(rng.integers(2, 7)), round(points / 72 * sheet.dpi * 1.8)
    rows = min(int(rng.integers(3, 12)), max(0, (bottom - y) // high))
    edges, line = np.linspace(left, right, columns + 1).astype(int), int(rng.integers(80, 170))
    for row in range(rows):
        for a, b in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
            top = y + row * high
            sheet.draw.rectangle((a, top, b, top + high), outline=(line,) * 3, width=max(1, round(sheet.dpi / 150)))
            text = (
                str(int(rng.integers(1, 99999))) if rng.random() < 0.5 else "".join(_line(sheet, script, font, b - a - 12)[:1])
            )
            sheet.draw.text((a + 6, top + high // 5), text, font=font, fill=(sheet.ink,) * 3)
    return y + rows * high


def _form(sheet: _Sheet, y: int, script: str, font: _Font, points: float, spacing: float) -> int:
    rng, (left, right, bottom) = sheet.rng, sheet.box
    high = round(points / 72 * sheet.dpi * 2.2)
    for _ in range(int(rng.integers(2, 6))):
        if y + high > bottom:
            return bottom
        label = "".join(_words(rng, script, 1, bool(sheet.fonts.files))) + ":"
        sheet.draw.text((left, y), label, font=font, fill=(sheet.ink,) * 3)
        start = left + 20 + int(sheet.draw.textlength(label, font))
        sheet.draw.line((start, y + high * 0.6, right, y + high * 0.6), fill=(90,) * 3, width=max(1, round(sheet.dpi / 150)))
        y += high
    return y


def _handwriting(sheet: _Sheet, y: int, script: str, font: _Font, points: float, spacing: float) -> int:
    """Joined loops and strokes along a slanting line, as a pen leaves them."""
    rng, (left, right, bottom) = sheet.rng, sheet.box
    high = points / 72 * sheet.dpi * float(rng.uniform(1.0, 2.0))
    for _ in range(int(rng.integers(1, 4))):
        if y + 2 * high > bottom:
            return bottom
        x, end = left + float(rng.uniform(0, 0.4)) * (right - left), right - float(rng.uniform(0, 0.3)) * (right - left)
        slope, width = float(rng.normal(0, 0.01)), max(1, round(sheet.dpi / 100 * float(rng.uniform(0.7, 1.8))))
        points_xy, t = list[tuple[float, float]](), 0.0
        while x < end:
            t += 0.35
            x += high * float(rng.uniform(0.03, 0.14))
            tall = 1.0 if rng.random() < 0.85 else 1.9
            points_xy.append((x + 0.25 * high * np.sin(1.9 * t), y + high - 0.4 * high * tall * np.sin(t) + slope * (x - left)))
            if rng.random() < 0.06:
                sheet.draw.line(points_xy, fill=(sheet.ink // 2, sheet.ink // 2, 60 + sheet.ink), width=width, joint="curve")
                points_xy, x = [], x + 0.7 * high
        if len(points_xy) > 1:
            sheet.draw.line(points_xy, fill=(sheet.ink // 2, sheet.ink // 2, 60 + sheet.ink), width=width, joint="curve")
        y += round(2.2 * high)
    return y


def _figure(sheet: _Sheet, y: int, script: str, font: _Font, points: float, spacing: float) -> int:
    return y  # pasted by `_paste`, since it needs the page itself


def _paste(page: Image.Image, sheet: _Sheet, y: int, picture: UInt8Array) -> int:
    left, right, bottom = sheet.box
    width = round((right - left) * float(sheet.rng.uniform(0.3, 1.0)))
    high = round(width * picture.shape[0] / picture.shape[1])
    if y + high > bottom:
        return y
    image = Image.fromarray(picture).resize((width, high))
    if sheet.rng.random() < 0.5:
        image = image.convert("L").convert("RGB")
    page.paste(image, (left + int(sheet.rng.integers(0, right - left - width + 1)), y))
    return int(y + high)
