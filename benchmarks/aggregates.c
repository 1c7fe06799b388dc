// SPDX-License-Identifier: BSD-3-Clause
/*
 * Saturated aggregates in the air's core alone, as in peers/aggregates.cc, whose options it takes: stations send MPDUs of
 * 1526 bytes to a sink in best effort, and two block-ACK windows of them always wait at each. It prints how many a
 * second were acknowledged, after a first second that is not counted.
 *
 * Usage: aggregates --format=ht|vht|he --mcs=7 --streams=1 --width=20 --guard=800 --window=64 --stations=5 --seconds=2
 *                   --seed=1 --loss=0 --mpdus=64 --rts=0 --access=edca|dcf --eifs=1 --rules=standard|ns3
 *
 * An MPDU is lost with the probability `loss`. A PPDU has `mpdus` of them at most, by default the window. With
 * --rules=ns3 PPDUs last as long as in ns-3.37, whose VHT PPDUs have no SIG-B, whose HE-LTFs are 8 us each, and which
 * codes all of HE as BCC, without packet extension.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "dcf.h"

enum { MPDU = 1526, WARM_UP_S = 1 };

static struct dcf *dcf;
static bool rts;
static u16 waiting[DCF_MAX_STATIONS];
static u64 now, acked;
static struct dcf_session session[DCF_MAX_STATIONS];

static void ignore_delivery(void *edge, u16 to, const struct dcf_frame *f, u16 mode, s32 power)
{
	(void)edge, (void)to, (void)f, (void)mode, (void)power;
}

static void count_done(void *edge, u16 station, struct dcf_frame *f, enum dcf_reason why)
{
	(void)edge;
	waiting[station]--;
	acked += why == DCF_ACKED && now >= WARM_UP_S * 1000 * 1000 * US;
	free(f->bytes);
	free(f);
}

static const struct dcf_ops ops = { .deliver = ignore_delivery, .done = count_done };

static void send_mpdu(u16 from, u16 to)
{
	struct dcf_frame *f = calloc(1, sizeof(*f));
	u16 sequence = session[from].next;

	f->len = MPDU - FCS_LEN;
	f->freq = 5180;
	f->session = &session[from];
	f->bytes = calloc(1, f->len);
	f->bytes[0] = 0x88;
	f->bytes[4] = f->bytes[10] = 2;
	f->bytes[9] = to;
	f->bytes[15] = from;
	f->bytes[22] = sequence << 4;
	f->bytes[23] = sequence >> 4;
	f->stage[0] = (struct dcf_stage){ .mode = DCF_RATES, .count = 1, .rts = rts };
	waiting[from]++;
	dcf_enqueue(dcf, from, f, now);
}

/* The value of --@name=; else @otherwise. */
static const char *option_of(char **argv, const char *name, const char *otherwise)
{
	size_t n = strlen(name);

	for (; *argv; argv++)
		if (!strncmp(*argv, "--", 2) && !strncmp(*argv + 2, name, n) && (*argv)[2 + n] == '=')
			return *argv + 3 + n;
	return otherwise;
}

static u64 number_of(char **argv, const char *name, const char *otherwise)
{
	return strtoull(option_of(argv, name, otherwise), NULL, 10);
}

static struct dcf_mode mode_asked(char **argv)
{
	const char *format = option_of(argv, "format", "ht");
	struct dcf_txvector v = {
		.format = *format == 'v' ? DCF_VHT : !strcmp(format, "he") ? DCF_HE : DCF_HT,
		.mcs = number_of(argv, "mcs", "7"), .streams = number_of(argv, "streams", "1"),
		.width_mhz = number_of(argv, "width", "20"), .guard_ns = number_of(argv, "guard", "800"),
	};
	struct dcf_mode mode;

	v.ltf = v.format == DCF_HE ? 2 : 0;
	v.ldpc = v.format == DCF_HE;
	if (mode_make(&mode, &v) != MODE_SOUND) {
		fprintf(stderr, "there is no such mode\n");
		exit(2);
	}
	if (strcmp(option_of(argv, "rules", "standard"), "ns3"))
		return mode;
	if (v.format == DCF_VHT)
		mode.preamble_ns -= 4 * US;
	if (v.format == DCF_HE) {
		mode.preamble_ns += (mode.preamble_ns - 36 * US) / (6400 + v.guard_ns) * (8 * US - 6400 - v.guard_ns);
		mode.encoders = 1;
		mode.bits_short = 0;
	}
	return mode;
}

int main(int argc, char **argv)
{
	const struct dcf_mode mode = mode_asked(argv + 1);
	const u16 n = number_of(argv, "stations", "5"), window = number_of(argv, "window", "64");
	const double loss = strtod(option_of(argv, "loss", "0"), NULL);
	const double seconds = strtod(option_of(argv, "seconds", "2"), NULL);
	const bool edca = strcmp(option_of(argv, "access", "edca"), "dcf");
	const struct dcf_config config = {
		.phy = { 9 * US, 16 * US, 15, 1023, 0, 0x150, 2250 }, .stations = n + 1, .reception = DCF_SINR,
		.eifs = number_of(argv, "eifs", "1"), .nav_reset = true, .edca = edca, .snap = 128,
		.detect_ofdm_milli = 2512, .rx_threshold_aw = 100, .cs_threshold_aw = 10, .noise_aw = 1,
		.seed = number_of(argv, "seed", "1"),
	};
	const struct dcf_limits limits = {
		mode.format == DCF_HT ? 65535 : mode.format == DCF_VHT ? 1048575 : 6500631, MODE_MAX_NS,
		number_of(argv, "mpdus", "0") ?: window, 0,
	};
	struct dcf_errors errors = { -10000, 50000, 2, { -log(1 - loss) / (8 * (MPDU + AMPDU_DELIMITER)) * 0x1p40 } };
	u16 from, to;

	(void)argc;
	rts = number_of(argv, "rts", "0");
	dcf = calloc(1, dcf_size(n + 1));
	dcf_init(dcf, &config, &ops, NULL);
	errors.lambda_q40[1] = errors.lambda_q40[0];
	dcf_set_modes(dcf, &mode, 1);
	dcf_set_curve(dcf, mode.curve, &errors);
	for (from = 0; from <= n; from++) {
		u8 address[DCF_ALEN] = { 2, 0, 0, 0, 0, from };

		dcf_set_station(dcf, from, 5180, 255, 255, 3 * window, false);
		dcf_set_address(dcf, from, address);
		if (edca)
			dcf_set_edca(dcf, from, DCF_BE, &(struct dcf_edca){ 15, 1023, 0, 3, 0 });
		for (to = 0; to <= n; to++)
			if (to != from)
				dcf_set_link(dcf, from, to, &(struct dcf_link){ 1000, -60000, 0 });
		session[from] = (struct dcf_session){ limits, window, 0, 0, 255 };
		if (from < n)
			dcf_begin_scoreboard(dcf, n, calloc(1, sizeof(struct dcf_scoreboard)), from, 0, window, 0);
	}
	while (now < (WARM_UP_S + seconds) * 1e9) {
		for (from = 0; from < n; from++)
			while (waiting[from] < 2 * window)
				send_mpdu(from, n);
		now = dcf_next(dcf);
		dcf_run(dcf, now);
	}
	printf("%.3f\n", acked / seconds);
}
