"""The page of cases behind an address."""

from __future__ import annotations

from collections.abc import Callable

from jigsawnet.runs import Request, Run
from jigsawnet.viewer.home.app import create_home
from jigsawnet.viewer.home.cases import Cases
from jigsawnet.viewer.home.desk import Desk, Hold
from jigsawnet.viewer.home.intake import Intake, IntakeLimits
from jigsawnet.viewer.limits import Limits
from jigsawnet.viewer.serve import Server


class Home(Server):
    """All cases of a person, served to this machine only."""

    def __init__(
        self,
        cases: Cases,
        hold: Hold,
        port: int = 0,
        limits: Limits | None = None,
        intake: IntakeLimits | None = None,
        base: Request | None = None,
        on_solved: Callable[[Run], None] = lambda _: None,
    ) -> None:
        """``hold`` keeps other workbenches off a run's folder; ``base`` has the options of every solve.

        Raises:
            ConfigError: the port is out of range or taken.
        """
        cases.tidy()
        self.desk, self.intake = Desk(cases, hold, base, on_solved), Intake(intake)
        super().__init__(create_home(self.desk, self.intake, self._quit), self._end, port, limits)

    def _quit(self) -> None:
        """A person ends the program: the server waits for no stream."""
        self.desk.end_streams()
        self.ask_to_end()

    def _end(self) -> None:
        self.intake.close()
        self.desk.close()
