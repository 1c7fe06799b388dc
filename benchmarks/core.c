// SPDX-License-Identifier: BSD-3-Clause
/*
 * The number of events per second that the air's core plays in user space, for a
 * string of saturated stations. Each sends to the next one with RTS/CTS, 200 m
 * apart with ns-2's ranges. Prints one JSON object.
 *
 * Usage: core STATIONS SECONDS
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "dcf.h"

static struct dcf *dcf;
static u16 again[DCF_MAX_STATIONS * 4];
static int n_again;
static u64 done_frames;

static void ignore_delivery(void *edge, u16 to, const struct dcf_frame *f, u16 mode, s32 power)
{
	(void)edge, (void)to, (void)f, (void)mode, (void)power;
}

static void count_done(void *edge, u16 station, struct dcf_frame *f, enum dcf_reason why)
{
	(void)edge, (void)why;
	done_frames++;
	again[n_again++] = station;
	free(f->bytes);
	free(f);
}

static const struct dcf_ops ops = { .deliver = ignore_delivery, .done = count_done };

static void send_frame(u16 from, u16 stations, u64 now)
{
	struct dcf_frame *f = calloc(1, sizeof(*f));

	f->len = 1500;
	f->freq = 2412;
	f->bytes = calloc(1, f->len);
	f->bytes[0] = 0x08;
	f->bytes[4] = f->bytes[10] = 2;
	f->bytes[9] = from + 1 < stations ? from + 1 : from - 1;
	f->bytes[15] = from;
	f->stage[0] = (struct dcf_stage){ .mode = 1, .count = 1, .rts = true };
	dcf_enqueue(dcf, from, f, now);
}

int main(int argc, char **argv)
{
	u16 n = argc > 1 ? atoi(argv[1]) : 5, i, j;
	u64 end = (argc > 2 ? atoi(argv[2]) : 60) * 1000000000ULL, now = 0;
	struct dcf_config config = {
		.phy = { 20 * US, 10 * US, 31, 1023, 0, 1 }, .stations = n, .eifs = DCF_EIFS_ENERGY, .nav_reset = true,
		.snap = 128, .capture_ratio_milli = 10000, .rx_threshold_aw = 365200000, .cs_threshold_aw = 15590000, .seed = 1,
	};
	struct timespec a, b;
	double wall;

	dcf = calloc(1, dcf_size(n));
	if (dcf_check(&config))
		return 1;
	dcf_init(dcf, &config, &ops, NULL);
	for (i = 0; i < n; i++) {
		u8 addr[6] = { 2, 0, 0, 0, 0, i };

		dcf_set_station(dcf, i, 2412, 7, 4, 50, false);
		dcf_add_address(dcf, i, addr);
		for (j = 0; j < n; j++) {
			u32 hops = abs((int)i - j);
			struct dcf_link link = { hops == 1 ? 891000000 : hops == 2 ? 55700000 : 0, -60000, 667 * hops };

			if (i != j && link.power_aw)
				dcf_set_link(dcf, i, j, &link);
		}
	}
	dcf_start(dcf, 0);
	for (i = 0; i < 2 * n; i++)
		send_frame(i % n, n, 1);
	clock_gettime(CLOCK_MONOTONIC, &a);
	while ((now = dcf_next(dcf)) < end) {
		dcf_run(dcf, now);
		while (n_again)
			send_frame(again[--n_again], n, now);
	}
	clock_gettime(CLOCK_MONOTONIC, &b);
	wall = b.tv_sec - a.tv_sec + (b.tv_nsec - a.tv_nsec) / 1e9;
	printf("{\"stations\": %d, \"air_s\": %g, \"wall_s\": %g, \"events\": %llu, \"frames\": %llu, \"events_per_s\": %.0f}\n",
	       n, end / 1e9, wall, (unsigned long long)dcf_events(dcf), (unsigned long long)done_frames, dcf_events(dcf) / wall);
	return 0;
}
