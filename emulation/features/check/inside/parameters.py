# SPDX-License-Identifier: BSD-3-Clause
"""Change a module's parameters while it works. It may refuse a value, but must work with what it accepts."""

from __future__ import annotations

import time

from emulation.features.check.inside import Name, tested_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from emulation.features.check.inside.job import Job
    from emulation.features.check.inside.playground import Playground
    from emulation.features.check.inside.tested_module import Module

CONNECTIONS = 4  # begun under each value
SEGMENTS, SEGMENT, WAIT_S = 20, 1448, 4.0  # acknowledged under each value; bytes of each; time to wait for them
COMBINATIONS, COMBINED_S = 20, 0.3
FRACTION = 0.6  # of the parameters in a combination
SHOWN = 40  # characters of a value
SEVERAL = ("1 2", "20 10", "3 100", "1,2", "20,10", "1 2 3", "30 20 10")  # numbers, where one alone is refused


class Parameters:
    """The parameters that root may write. `accepted` has the values that each took."""

    def __init__(self, module: Module, playground: Playground, job: Job) -> None:
        self.module, self.playground, self.job = module, playground, job
        self.before = {name: module.get(name) for name in module.parameters()}
        self.accepted: dict[str, list[str]] = {}
        self.changed: dict[str, str] = {}  # values that differ from the first ones

    def parameters(self) -> None:
        """Set each parameter to all its values, one by one."""
        random = self.playground.random
        for name in random.sample(list(self.before), len(self.before)):
            values = self.module.values(name)
            self.accepted[name] = [
                value for value in random.sample(values, len(values)) if self.works_with(name, value)
            ]
            self.accepted[name] = self.accepted[name] or [value for value in SEVERAL if self.works_with(name, value)]
            self.restore(name)
        self.job.results["parameters"] = self.accepted

    def works_with(self, name: str, value: str) -> bool:
        """Return whether it accepts a value. If so, use it: begin connections, and wait for acknowledged segments."""
        if not self.set({name: value}):
            return False
        playground = self.playground
        for _ in range(CONNECTIONS):
            playground.crowd.begin()
        enough, deadline = playground.acknowledged() + SEGMENTS * SEGMENT, time.monotonic() + WAIT_S
        while playground.acknowledged() < enough and time.monotonic() < deadline:
            playground.run(0.2)
        return True

    def combinations(self) -> None:
        """Set many at once, to values that they accepted one by one."""
        random = self.playground.random
        for _ in range(COMBINATIONS):
            some = {name: random.choice(values) for name, values in self.accepted.items() if values}
            self.set({name: value for name, value in some.items() if random.random() < FRACTION})
            self.playground.run(COMBINED_S)
        for name in self.before:
            self.restore(name)

    def set(self, values: dict[str, str]) -> bool:
        def change() -> None:
            for name, value in values.items():
                self.module.set(name, value)
                self.changed[name] = value
                if value == self.before[name]:
                    del self.changed[name]

        done = self.job.attempt(described(values), change)
        tested_module.check_usual_windows(not self.changed)
        self.job.say(f"with {described(self.changed)}")
        return done

    def restore(self, name: str) -> None:
        value = self.before[name]
        if value and not self.set({name: value}):
            text = f"the parameter {name} does not take back {value!r}, which it had when the module was loaded"
            self.job.find(Name.REFUSED_PARAMETER, text)


def described(values: dict[str, str]) -> str:
    return ", ".join(f"{name} = {value[:SHOWN]!r}" for name, value in values.items())
