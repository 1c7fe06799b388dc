# SPDX-License-Identifier: BSD-3-Clause
"""Read a JUnit file as strictly as the schema of Ant's task, the strictest of those in use."""

from __future__ import annotations

from xml.etree import ElementTree as Xml

# For each element: its required and its optional attributes, and its children in order, with their greatest number.
MANY = 10**6
SCHEMA: dict[str, tuple[set[str], set[str], dict[str, int]]] = {
    "testsuites": (set(), set(), {"testsuite": MANY}),
    "testsuite": (
        {"package", "id", "name", "timestamp", "hostname", "tests", "failures", "errors", "time"}, {"skipped"},
        {"properties": 1, "testcase": MANY, "system-out": 1, "system-err": 1},
    ),
    "testcase": ({"name", "classname", "time"}, set(), {"skipped": 1, "error": 1, "failure": 1}),
    "failure": ({"type"}, {"message"}, {}), "error": ({"type"}, {"message"}, {}), "skipped": (set(), {"message"}, {}),
    "properties": (set(), set(), {}), "system-out": (set(), set(), {}), "system-err": (set(), set(), {}),
}  # fmt: skip


def read(data: bytes) -> Xml.Element:
    """Read the file, and check it against the schema: its elements, and that each suite counts its own cases."""
    root = Xml.fromstring(data)
    assert root.tag == "testsuites"
    for element in root.iter():
        must, may, children = SCHEMA[element.tag]
        assert must <= set(element.keys()) <= must | may, element.tag
        order = [list(children).index(child.tag) for child in element]
        assert order == sorted(order) and all(order.count(n) <= most for n, most in enumerate(children.values()))
    for number, element in enumerate(root):
        assert element.get("id") == str(number) and len(element.findall("system-out")) == 1
        for count, path in (("tests", "testcase"), ("failures", "testcase/failure"), ("skipped", "testcase/skipped")):
            assert element.get(count) == str(len(element.findall(path)))
        assert all(len(case) <= 1 for case in element.iter("testcase")), "one outcome each"
        names = [case.get("name") for case in element.iter("testcase")]
        assert len(names) == len(set(names)) and not any("\n" in name for name in names if name)
    return root


def cases(root: Xml.Element) -> dict[str | None, str]:
    """Return the result of each case."""
    return {case.get("name"): case[0].tag if len(case) else "passed" for case in root.iter("testcase")}
