/* SPDX-License-Identifier: GPL-2.0-only */
/* What iproute2 (6.1) shares with a plugin for a kind of link. No package has its headers. */
#ifndef IP_H
#define IP_H

#include <linux/rtnetlink.h>
#include <stdint.h>
#include <stdio.h>

struct link_util {
	struct link_util *next;
	const char *id;
	int maxattr;
	int (*parse_opt)(struct link_util *lu, int argc, char **argv, struct nlmsghdr *n);
	void (*print_opt)(struct link_util *lu, FILE *f, struct rtattr *tb[]);
	void (*print_xstats)(struct link_util *lu, FILE *f, struct rtattr *xstats);
	void (*print_help)(struct link_util *lu, int argc, char **argv, FILE *f);
	int (*parse_ifla_xstats)(struct link_util *lu, int argc, char **argv);
	int (*print_ifla_xstats)(struct nlmsghdr *n, void *arg);
};
enum output_type { PRINT_FP = 1, PRINT_JSON = 2, PRINT_ANY = 4 };
enum color_attr { COLOR_NONE = 6 };
int addattr_l(struct nlmsghdr *n, int maxlen, int type, const void *data, int alen);
int print_color_string(enum output_type type, enum color_attr, const char *key, const char *fmt, const char *value);
int print_color_u64(enum output_type type, enum color_attr, const char *key, const char *fmt, uint64_t value);
const char *ll_index_to_name(unsigned int index);
unsigned int ll_name_to_index(const char *name);

#endif
