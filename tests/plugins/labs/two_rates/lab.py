# SPDX-License-Identifier: BSD-3-Clause
"""Two rates: the overhead of a frame."""

from labs import Choice, Lab, Number


def gain(runs):
    return runs["fast"].result.goodput_kbps / runs["slow"].result.goodput_kbps


LAB = Lab(
    title="Two rates",
    teaches="why 11 Mb/s are not 5.5 times 2 Mb/s",
    minutes=15,
    topology="string",
    options={"stations": 2, "seconds": 2},
    runs={"slow": {"rate": 2}, "fast": {"rate": 11}},
    drawn={"mss": range(600, 1401, 100)},
    questions=[
        Number(
            name="gain",
            asks="By which factor does 11 Mb/s carry more than 2 Mb/s, in segments of your size?",
            unit="",
            within=0.02,
            of=gain,
            slips={"that is the ratio of the rates: measure it": lambda runs: 5.5},
            look="run both, and divide the goodputs",
        ),
        Choice(
            name="why",
            asks="What holds of your two runs?",
            options={
                "Less than half of the gain in rate arrives.": lambda runs: gain(runs) < 2.75,
                "All of the gain in rate arrives.": lambda runs: gain(runs) > 5.4,
            },
            look="the preamble of 192 us is sent at 1 Mb/s at either rate, and so is the ACK",
        ),
    ],
)
