// SPDX-License-Identifier: GPL-2.0-only
/*
 * ackthin for iproute2's tc: the arguments of `tc qdisc add dev DEV root ackthin
 * …`, and the output of `tc -s qdisc`. tc loads q_ackthin.so from $TC_LIB_DIR, or
 * from /usr/lib/tc.
 */
#include <string.h>

#include "../pkt_ackthin.h"
#include "tc.h"

#define MAX_MESSAGE 1024
#define TEXT 64 /* as much as sprint_time() may write */

static const char *const policies[] = {
	[ACKTHIN_PLAIN] = "plain",
	[ACKTHIN_DELAYED] = "delayed",
	[ACKTHIN_SKIP] = "skip",
	[ACKTHIN_DAA] = "daa",
	[ACKTHIN_DYNAMIC] = "dynamic",
};
#define BIT(policy) (1U << ACKTHIN_##policy)
#define HOLDING (BIT(DELAYED) | BIT(SKIP) | BIT(DAA) | BIT(DYNAMIC))

/* The settings other than the policy; @policies are the ones that use it. The kernel has the same limits. */
static const struct parameter {
	const char *word, *key; /* on the command line; in JSON */
	unsigned int policies;
	bool time;
	__u32 min, max;
} parameters[__TCA_ACKTHIN_MAX] = {
	[TCA_ACKTHIN_LIMIT] = { "limit", "limit", ~0U, false, 1, ~0U },
	[TCA_ACKTHIN_COUNT] = { "count", "count", BIT(DELAYED), false, 1, 255 },
	[TCA_ACKTHIN_SKIP] = { "skip", "skip", BIT(SKIP), false, 0, 255 },
	[TCA_ACKTHIN_START] = { "start", "start", BIT(SKIP), false, 0, ~0U },
	[TCA_ACKTHIN_TIMEOUT] = { "timeout", "timeout_us", HOLDING, true, 0, 10000000 },
	[TCA_ACKTHIN_GRANULARITY] = { "granularity", "granularity_us", HOLDING, true, 0, 10000000 },
	[TCA_ACKTHIN_DWIN_MIN] = { "dwin_min", "dwin_min", BIT(DAA), false, 1, 255 },
	[TCA_ACKTHIN_DWIN_MAX] = { "dwin_max", "dwin_max", BIT(DAA), false, 1, 255 },
	[TCA_ACKTHIN_ALPHA] = { "alpha", "alpha", BIT(DAA) | BIT(DYNAMIC), false, 0, 999 },
	[TCA_ACKTHIN_KAPPA] = { "kappa", "kappa", BIT(DAA), false, 0, 10000 },
	[TCA_ACKTHIN_MU] = { "mu", "mu", BIT(DAA), false, 1, 1000 },
	[TCA_ACKTHIN_INTERVAL] = { "interval", "interval_us", BIT(DYNAMIC), true, 1000, 60000000 },
	[TCA_ACKTHIN_STEP] = { "step", "step", BIT(DYNAMIC), false, 1, 10000 },
	[TCA_ACKTHIN_SKIP_MAX] = { "skip_max", "skip_max", BIT(DYNAMIC), false, 0, 255 },
};

static const char *const reasons[ACKTHIN_REASONS] = {
	"other", "data", "control", "ecn", "sack", "option", "first", "probe", "old",
	"duplicate", "window", "recovery", "group", "timer", "flushed",
};

static void ackthin_explain(void)
{
	fprintf(stderr,
		"Usage: ... ackthin [ plain | delayed | skip | daa | dynamic ]\n"
		"                   [ limit PACKETS ] [ timeout TIME ] [ granularity TIME ]\n"
		"  delayed:         [ count ACKS ]\n"
		"  skip:            [ skip ACKS ] [ start ACK ]\n"
		"  daa:             [ dwin_min ACKS ] [ dwin_max ACKS ] [ alpha N ] [ kappa N ] [ mu N ]\n"
		"  dynamic:         [ interval TIME ] [ alpha N ] [ step N ] [ skip_max ACKS ]\n"
		"N is in thousandths. What is not named stays as it is, or is the default.\n");
}

static void ackthin_format(const struct parameter *p, __u32 value, char *text)
{
	if (p->time)
		sprint_time(value, text);
	else
		snprintf(text, TEXT, "%u", value);
}

static int parse_parameter(const char *word, const char *text, struct nlmsghdr *n)
{
	char low[TEXT], high[TEXT];
	const struct parameter *p;
	__u32 value;
	int i;

	for (i = 1; i < __TCA_ACKTHIN_MAX; i++)
		if (parameters[i].word && !strcmp(word, parameters[i].word))
			break;
	if (i == __TCA_ACKTHIN_MAX) {
		fprintf(stderr, "ackthin: what is \"%s\"?\n", word);
		ackthin_explain();
		return -1;
	}
	p = &parameters[i];
	if (!text || (p->time ? get_time(&value, text) : get_u32(&value, text, 10))) {
		fprintf(stderr, "ackthin: \"%s\" needs a %s%s%s\n", word, p->time ? "time" : "number", text ? ", not " : "",
			text ? text : "");
		return -1;
	}
	if (value < p->min || value > p->max) {
		ackthin_format(p, p->min, low);
		ackthin_format(p, p->max, high);
		fprintf(stderr, "ackthin: \"%s\" is from %s to %s, not %s\n", word, low, high, text);
		return -1;
	}
	return addattr32(n, MAX_MESSAGE, i, value);
}

static int ackthin_parse_opt(struct qdisc_util *qu, int argc, char **argv, struct nlmsghdr *n, const char *dev)
{
	struct rtattr *nest = addattr_nest(n, MAX_MESSAGE, TCA_OPTIONS | NLA_F_NESTED);
	__u32 policy;

	(void)qu;
	(void)dev;
	for (policy = 0; argc && policy <= ACKTHIN_DYNAMIC; policy++) {
		if (strcmp(*argv, policies[policy]))
			continue;
		addattr32(n, MAX_MESSAGE, TCA_ACKTHIN_POLICY, policy);
		argc--;
		argv++;
		break;
	}
	for (; argc > 0; argc -= 2, argv += 2) {
		if (!strcmp(*argv, "help")) {
			ackthin_explain();
			return -1;
		}
		if (parse_parameter(argv[0], argc > 1 ? argv[1] : NULL, n))
			return -1;
	}
	addattr_nest_end(n, nest);
	return 0;
}

static void print_parameter(const struct parameter *p, __u32 policy, __u32 value)
{
	char text[TEXT];

	print_color_uint(PRINT_JSON, COLOR_NONE, p->key, NULL, value);
	if (!(p->policies & 1U << policy))
		return;
	ackthin_format(p, value, text);
	print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s ", p->word);
	print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s ", text);
}

static int ackthin_print_opt(struct qdisc_util *qu, FILE *f, struct rtattr *opt)
{
	struct rtattr *tb[__TCA_ACKTHIN_MAX] = { NULL };
	__u32 policy;
	int i;

	(void)qu;
	(void)f;
	if (!opt)
		return 0;
	parse_rtattr(tb, TCA_ACKTHIN_MAX, RTA_DATA(opt), RTA_PAYLOAD(opt));
	for (i = 1; i < __TCA_ACKTHIN_MAX; i++)
		if (!tb[i] || RTA_PAYLOAD(tb[i]) < sizeof(__u32))
			return -1;
	policy = *(__u32 *)RTA_DATA(tb[TCA_ACKTHIN_POLICY]);
	if (policy > ACKTHIN_DYNAMIC)
		return -1;
	print_color_string(PRINT_ANY, COLOR_NONE, "policy", "%s ", policies[policy]);
	for (i = TCA_ACKTHIN_POLICY + 1; i < __TCA_ACKTHIN_MAX; i++)
		print_parameter(&parameters[i], policy, *(__u32 *)RTA_DATA(tb[i]));
	return 0;
}

static int print_xstats(struct qdisc_util *qu, FILE *f, struct rtattr *xstats)
{
	struct tc_ackthin_xstats st;
	char words[32];
	int i;

	(void)qu;
	(void)f;
	if (!xstats)
		return 0;
	if (RTA_PAYLOAD(xstats) < sizeof(st))
		return -1;
	memcpy(&st, RTA_DATA(xstats), sizeof(st));
	print_color_u64(PRINT_ANY, COLOR_NONE, "acks", "  acks %llu", st.acks);
	print_color_u64(PRINT_ANY, COLOR_NONE, "thinned", " thinned %llu", st.thinned);
	print_color_uint(PRINT_ANY, COLOR_NONE, "held", " held %u", st.held);
	print_color_uint(PRINT_ANY, COLOR_NONE, "flows", " flows %u", st.flows);
	print_color_u64(PRINT_ANY, COLOR_NONE, "evicted", " evicted %llu", st.evicted);
	print_color_uint(st.dwin ? PRINT_ANY : PRINT_JSON, COLOR_NONE, "dwin_milli", " dwin_milli %u", st.dwin);
	print_color_uint(st.samples ? PRINT_ANY : PRINT_JSON, COLOR_NONE, "skip", " skip %u", st.skip);
	print_color_uint(st.samples ? PRINT_ANY : PRINT_JSON, COLOR_NONE, "failures_milli", " failures_milli %u",
			 st.failures);
	print_color_uint(PRINT_JSON, COLOR_NONE, "samples", NULL, st.samples);
	print_nl();
	print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s", "  passed:");
	open_json_object("passed");
	for (i = 0; i < ACKTHIN_REASONS; i++) {
		snprintf(words, sizeof(words), " %s %%llu", reasons[i]);
		print_color_u64(st.passed[i] ? PRINT_ANY : PRINT_JSON, COLOR_NONE, reasons[i], words, st.passed[i]);
	}
	close_json_object();
	return 0;
}

struct qdisc_util ackthin_qdisc_util = {
	.id = "ackthin",
	.parse_qopt = ackthin_parse_opt,
	.print_qopt = ackthin_print_opt,
	.print_xstats = print_xstats,
};
