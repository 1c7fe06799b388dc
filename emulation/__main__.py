# SPDX-License-Identifier: BSD-3-Clause
"""`python -m emulation`: the command line; `./dcflab` is the same with its set-up."""

import atexit
import gc
import os
import signal
import sys

for number in range(3):  # standard streams that are closed: what is opened next would take their place
    try:
        os.fstat(number)
    except OSError:
        os.open(os.devnull, os.O_RDWR)
sys.stdin = sys.stdin or os.fdopen(0)
sys.stdout, sys.stderr = sys.stdout or os.fdopen(1, "w"), sys.stderr or os.fdopen(2, "w")
signal.signal(signal.SIGINT, signal.SIG_DFL)  # while there is nothing to clean up
gc.set_threshold(1 << 18)  # else it looks through all that was loaded, again in each child, and finds nothing

try:
    from emulation.cli.main import main

    main()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # else Python takes apart all that was loaded
except (ImportError, SyntaxError) as error:  # if the environment is damaged, make it again
    from emulation.setup import repair_environment

    repair_environment(thoroughly=True, missing_module=getattr(error, "name", None) or "")
    raise
