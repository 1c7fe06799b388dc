# SPDX-License-Identifier: BSD-3-Clause
"""A file of JUnit's, read as strictly as the schema of Ant's task asks for, the strictest of those in use."""

from __future__ import annotations

from xml.etree import ElementTree as Xml

# By element: the attributes that it must and those that it may have, and its children in order, with how many at most.
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
    """The file, which is held to the schema: its elements, and that each suite counts its own."""
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
    """What became of each case."""
    return {case.get("name"): case[0].tag if len(case) else "passed" for case in root.iter("testcase")}
