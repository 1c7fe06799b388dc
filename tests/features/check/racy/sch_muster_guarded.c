// SPDX-License-Identifier: GPL-2.0-only
/* The twin of sch_muster whose list has its lock. */
#define GUARDED
#define NAME "muster_guarded"
#include "sch_muster.c"
