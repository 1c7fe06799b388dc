# SPDX-License-Identifier: BSD-3-Clause
"""`run`: run a study, a topology, or a script of your own."""

from emulation.cli.groups import RunCommands

GROUP = "Run"
COMMAND = RunCommands(
    "run", subcommand_metavar="STUDY|TOPOLOGY|SCRIPT.py [OPTIONS]",
    help="Run a study, a topology, or a script of your own. The run folder has its report, results and traces.",
    examples=["run rts-cts --seeds 1..5", "run string --help", "run mesh --size 5x5 --flows 6",
              "run string --vary rts=none,full --vary stations=4,6,8", "run ~/my_study.py", "run ./ring.py --rate 11"],
)  # fmt: skip
