// SPDX-License-Identifier: GPL-2.0-only
/* The twin of tcp_roster whose list has its lock. */
#define GUARDED
#define NAME "roster_guarded"
#include "tcp_roster.c"
