// SPDX-License-Identifier: GPL-2.0-only
/*
 * manet for iproute2's ip: the arguments of `ip link add NAME link RADIO type
 * manet …`, and the output of `ip -d link`. ip loads link_manet.so from
 * $IP_LIB_DIR, or from /usr/lib/ip. The kernel reports invalid values.
 */
#include <linux/rtnetlink.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../link.h"
#include "ip.h"

#define MAX_MESSAGE 1024

static void manet_help(struct link_util *lu, int argc, char **argv, FILE *f)
{
	(void)lu;
	(void)argc;
	(void)argv;
	fprintf(f, "Usage: ... manet protocol { static | aodv | dsr | olsr | dsdv }\n"
		   "                 [ preset { rfc | thesis | cmu } ] [ seed N ] [ monitor DEV ]\n");
}

static int manet_refuse(const char *what, const char *word)
{
	fprintf(stderr, "manet: %s \"%s\"\n", what, word);
	return -1;
}

static int manet_parse_opt(struct link_util *lu, int argc, char **argv, struct nlmsghdr *n)
{
	for (; argc > 0; argc -= 2, argv += 2) {
		if (!strcmp(argv[0], "help")) {
			manet_help(lu, argc, argv, stdout);
			return -1;
		}
		if (argc < 2)
			return manet_refuse("a value is missing after", argv[0]);
		if (!strcmp(argv[0], "protocol")) {
			addattr_l(n, MAX_MESSAGE, MANET_LINK_PROTOCOL, argv[1], strlen(argv[1]) + 1);
		} else if (!strcmp(argv[0], "preset")) {
			addattr_l(n, MAX_MESSAGE, MANET_LINK_PRESET, argv[1], strlen(argv[1]) + 1);
		} else if (!strcmp(argv[0], "seed")) {
			char *end;
			uint64_t seed = strtoull(argv[1], &end, 0);

			if (*end || end == argv[1] || argv[1][0] == '-')
				return manet_refuse("this is no seed:", argv[1]);
			addattr_l(n, MAX_MESSAGE, MANET_LINK_SEED, &seed, sizeof(seed));
		} else if (!strcmp(argv[0], "monitor")) {
			uint32_t index = ll_name_to_index(argv[1]);

			if (!index)
				return manet_refuse("there is no device", argv[1]);
			addattr_l(n, MAX_MESSAGE, MANET_LINK_MONITOR, &index, sizeof(index));
		} else {
			manet_help(lu, argc, argv, stderr);
			return manet_refuse("unknown option", argv[0]);
		}
	}
	return 0;
}

static void manet_print_opt(struct link_util *lu, FILE *f, struct rtattr *tb[])
{
	uint64_t seed;
	uint32_t index;

	(void)lu;
	(void)f;
	if (!tb)
		return;
	if (tb[MANET_LINK_PROTOCOL])
		print_color_string(PRINT_ANY, COLOR_NONE, "protocol", "protocol %s ", RTA_DATA(tb[MANET_LINK_PROTOCOL]));
	if (tb[MANET_LINK_SEED]) {
		memcpy(&seed, RTA_DATA(tb[MANET_LINK_SEED]), sizeof(seed));
		print_color_u64(PRINT_ANY, COLOR_NONE, "seed", "seed %llu ", seed);
	}
	if (tb[MANET_LINK_MONITOR]) {
		memcpy(&index, RTA_DATA(tb[MANET_LINK_MONITOR]), sizeof(index));
		print_color_string(PRINT_ANY, COLOR_NONE, "monitor", "monitor %s ", ll_index_to_name(index));
	}
}

struct link_util manet_link_util = {
	.id = "manet",
	.maxattr = MANET_LINK_ATTRS - 1,
	.parse_opt = manet_parse_opt,
	.print_opt = manet_print_opt,
	.print_help = manet_help,
};
