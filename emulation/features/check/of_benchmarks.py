# SPDX-License-Identifier: BSD-3-Clause
"""`bench mutants`, `bench faults`, `bench intree`: what `module check` finds, and what it finds falsely."""

BENCHMARKS = {
    "mutants": "mistakes that `module check` finds; --count N, --minutes M, --seed S, --out FOLDER",
    "faults": "mistakes in copies of the kernel's modules that `module check` finds; --smp, --only TEXT",
    "intree": "copies of the kernel's modules in `module check`, for false findings; --only TEXT",
}
