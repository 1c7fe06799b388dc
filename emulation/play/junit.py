# SPDX-License-Identifier: BSD-3-Clause
"""Write results of checks as JUnit XML, which CI systems show as tests.

There is no standard for it. This is what Ant's JUnit task writes and its schema (JUnit.xsd) requires, which others
accept: suites have all attributes; a case passed, was skipped, or failed once. The file does not depend on the day or
machine: its time of day is a constant.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from xml.etree import ElementTree as Xml

from emulation.lane.errors import Misuse

NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # XML 1.0, 2.2
DAY, HOST = "1970-01-01T00:00:00", "localhost"


class Outcome(Enum):
    """Outcome of a case; the value is the name of its XML element."""

    PASSED = ""
    SKIPPED = "skipped"
    FAILED = "failure"


@dataclass(frozen=True)
class Case:
    """One test. `message` is one line and `text` the details of why it failed or was skipped; `kind` is the kind of
    failure."""

    name: str
    outcome: Outcome = Outcome.PASSED
    message: str = ""
    text: str = ""
    kind: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class Suite:
    """A suite; `package` and `name` form the class of its cases. `said` is any further output."""

    package: str
    name: str
    cases: Sequence[Case]
    output: str = ""


def check_writable(path: Path | None, option: str = "--junit") -> None:
    """Raises Misuse if the file cannot be written there. Called before hours of work."""
    if path and (path.is_dir() or not path.absolute().parent.is_dir()):
        raise Misuse(f"{option}: {path}: {'it is a folder' if path.is_dir() else 'there is no such folder'}")


def write(path: Path, suites: Sequence[Suite]) -> None:
    """Write the file. Raises OSError if it cannot be written."""
    path.write_bytes(text(suites))


def text(suites: Sequence[Suite]) -> bytes:
    root = Xml.Element("testsuites")
    for number, suite in enumerate(suites):
        outcomes = [case.outcome for case in suite.cases]
        element = Xml.SubElement(root, "testsuite", {
            "package": suite.package, "id": str(number), "name": xml_text(suite.name), "timestamp": DAY,
            "hostname": HOST, "tests": str(len(outcomes)),
            "failures": str(outcomes.count(Outcome.FAILED)), "errors": "0",
            "skipped": str(outcomes.count(Outcome.SKIPPED)), "time": f"{sum(case.seconds for case in suite.cases):.3f}",
        })  # fmt: skip
        Xml.SubElement(element, "properties")
        for case in suite.cases:
            _case(element, f"{suite.package}.{suite.name}", case)
        Xml.SubElement(element, "system-out").text = xml_text(suite.output)
        Xml.SubElement(element, "system-err")
    Xml.indent(root)
    body: str = Xml.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body}\n'.encode()


def _case(suite: Xml.Element, of: str, case: Case) -> None:
    named = {"name": xml_text(case.name), "classname": xml_text(of), "time": f"{case.seconds:.3f}"}
    element = Xml.SubElement(suite, "testcase", named)
    if case.outcome is not Outcome.PASSED:
        how = {"type": xml_text(case.kind)} if case.outcome is Outcome.FAILED else {}
        said = Xml.SubElement(element, case.outcome.value, {"message": xml_text(case.message), **how})
        said.text = xml_text(case.text)


def xml_text(what: str) -> str:
    """Replace characters that XML forbids; a kernel's message may have any."""
    return NOT_XML.sub("\ufffd", what)
