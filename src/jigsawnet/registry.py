"""Ground floor: matchers, scorers and composers by name; other packages may add theirs.

A package offers its own by an entry point in the group ``jigsawnet``; it is loaded when a name is asked for that is not known:

    [project.entry-points.jigsawnet]
    mine = "mine.jigsaw"  # a module that calls ``register`` when it is imported
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import entry_points
from typing import Generic, TypeVar

from jigsawnet.errors import ConfigError

GROUP = "jigsawnet"

Item = TypeVar("Item")


class Registry(Generic[Item]):
    """Things of one ``kind`` (matcher, scorer, composer) by name, in the order they were registered."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._items: dict[str, Item] = {}

    def register(self, name: str, item: Item) -> None:
        """Add a thing; a name can be given once.

        Raises:
            ValueError: the name is taken by something else.
        """
        if self._items.get(name, item) is not item:
            raise ValueError(f"there is a {self.kind} {name!r} already")
        self._items[name] = item

    def __getitem__(self, name: str) -> Item:
        """The thing of this name.

        Raises:
            ConfigError: there is none, here or in the installed packages.
        """
        if name not in self._items:
            for point in entry_points(group=GROUP):
                point.load()
        if name not in self._items:
            raise ConfigError(f"There is no {self.kind} {name[:60]!r}; there are {', '.join(self._items)}.")
        return self._items[name]

    def __contains__(self, name: object) -> bool:
        return name in self._items

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)
