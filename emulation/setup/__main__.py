# SPDX-License-Identifier: BSD-3-Clause
"""`python -m emulation.setup`: the launcher calls it if there is no environment; print the interpreter to use."""

import sys

from emulation.setup import SetupError, prepare_environment
from emulation.setup.errors import say


def main() -> int:
    try:
        print(prepare_environment())
    except SetupError as error:
        say(str(error))
        return 1
    except KeyboardInterrupt:
        say("interrupted")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
