// SPDX-License-Identifier: GPL-2.0-only
/* The twin of tcp_notice that waits for its readers. */
#define GUARDED
#define NAME "notice_guarded"
#include "tcp_notice.c"
