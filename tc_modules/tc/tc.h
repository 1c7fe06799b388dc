/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What iproute2's tc (6.1) shares with a plugin for a queue: the struct that it
 * looks up, and the structs of the exported helpers that we use. No package has
 * its headers.
 */
#ifndef TC_H
#define TC_H

#include <linux/rtnetlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct qdisc_util {
	struct qdisc_util *next;
	const char *id;
	int (*parse_qopt)(struct qdisc_util *qu, int argc, char **argv, struct nlmsghdr *n, const char *dev);
	int (*print_qopt)(struct qdisc_util *qu, FILE *f, struct rtattr *opt);
	int (*print_xstats)(struct qdisc_util *qu, FILE *f, struct rtattr *xstats);
	int (*parse_copt)(struct qdisc_util *qu, int argc, char **argv, struct nlmsghdr *n, const char *dev);
	int (*print_copt)(struct qdisc_util *qu, FILE *f, struct rtattr *opt);
	int (*has_block)(struct qdisc_util *qu, struct rtattr *opt, __u32 block, bool *has);
};

enum output_type { PRINT_FP = 1, PRINT_JSON = 2, PRINT_ANY = 4 };
enum color_attr { COLOR_NONE = 6 };

struct rtattr *addattr_nest(struct nlmsghdr *n, int maxlen, int type);
int addattr_nest_end(struct nlmsghdr *n, struct rtattr *nest);
int addattr32(struct nlmsghdr *n, int maxlen, int type, __u32 data);
int parse_rtattr(struct rtattr *tb[], int max, struct rtattr *rta, int len);
int get_u32(__u32 *val, const char *arg, int base);
int get_time(unsigned int *time, const char *str);
char *sprint_time(__u32 time, char *buf);
int print_color_uint(enum output_type type, enum color_attr, const char *key, const char *fmt, unsigned int value);
int print_color_u64(enum output_type type, enum color_attr, const char *key, const char *fmt, uint64_t value);
int print_color_string(enum output_type type, enum color_attr, const char *key, const char *fmt, const char *value);
void open_json_object(const char *str);
void close_json_object(void);
void print_nl(void);

#endif
