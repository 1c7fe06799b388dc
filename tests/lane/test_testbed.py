# SPDX-License-Identifier: BSD-3-Clause
"""A flow of the testbed, over drawn links and over the paths that its probes found."""

import json


def test_a_flow_of_three_hops_takes_as_many_and_arrives(bench):
    bench.plan("testbed", flow="37-25-14-23", seconds=1, routing="etx-frozen,probes=20")
    assert bench.run("plan").status == 0
    routes = json.loads((bench.folder / "etx.json").read_text())["routes"]
    assert [each["hops"] for each in routes if (each["from"], each["to"]) == ("r37", "r23")] == [3]
    assert bench.result()["applications"][0]["delivered_bytes"] > 20_000
