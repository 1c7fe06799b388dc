// SPDX-License-Identifier: GPL-2.0-only
/*
 * The core under sanitizers: any call at any moment, with frames that are freed
 * as soon as they are done with. Who reads one afterwards, loses one, or has two
 * ends for it, does not come to the end of this program.
 *
 *	fuzz [OPERATIONS [SEED]]
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../emulation/dcf80211/core/state.h"

#define MOST 6
#define ROUND 400 /* operations with one air */

static u64 state, started;
static unsigned long held, read_bytes;
static struct dcf_waypoint *ways[MOST];
static struct dcf_mode modes[4];
static u16 channels[3]; /* MHz: of two bands, or of one block */
/* Agreements, from each to each: of the two halves either may be there. */
static struct dcf_session sessions[MOST][MOST];
static struct dcf_scoreboard *boards[MOST][MOST];

static u64 draw(u64 n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state * 0x2545f4914f6cdd1dULL >> 16) % n;
}

#define PICK(type, ...) (((const type[]){ __VA_ARGS__ })[draw(sizeof((const type[]){ __VA_ARGS__ }) / sizeof(type))])

static void read_all(const u8 *bytes, u32 len)
{
	while (len--)
		read_bytes += *bytes++;
}

static void deliver(void *edge, u16 to, const struct dcf_frame *frame, u16 mode, s32 power_mdbm)
{
	(void)edge, (void)to, (void)mode, (void)power_mdbm;
	read_all(frame->bytes, frame->len);
}

static void done(void *edge, u16 station, struct dcf_frame *frame, enum dcf_reason why)
{
	(void)edge, (void)station;
	assert(why < DCF_REASONS && held);
	held--;
	free(frame->bytes);
	free(frame);
}

/* As a rate control does; VHT and HE carry what HT does. */
static void sent(void *edge, u16 station, const struct dcf_sent *ppdu)
{
	(void)edge, (void)station;
	assert(ppdu->acked <= ppdu->mpdus && ppdu->fresh <= ppdu->mpdus);
	if (ppdu->mode >= DCF_RATES)
		ppdu->session->mode = PICK(u16, 0, DCF_RATES + 1, DCF_RATES + 2);
}

static void record(void *edge, const void *head, u32 head_len, const void *body, u32 body_len)
{
	(void)edge;
	read_all(head, head_len);
	read_all(body, body_len);
}

static void address(u8 *addr, u64 station)
{
	memset(addr, 0, DCF_ALEN);
	addr[0] = 2;
	addr[5] = station;
}

/* An MPDU of an agreement, mostly the next; or a request. */
static void agree(struct dcf_frame *f, u16 from, u16 to)
{
	struct dcf_session *session = &sessions[from][to];
	u16 sequence = draw(20) ? session->next : draw(SEQUENCE_NUMBERS);
	u8 ra[DCF_ALEN], ta[DCF_ALEN];

	f->session = session;
	f->bytes[0] = draw(30) ? 0x88 : 8;
	f->bytes[1] = !draw(50) * 4;
	f->bytes[22] = sequence << 4 | !draw(50);
	f->bytes[23] = sequence >> 4;
	if (f->len > DCF_HDR_LEN)
		f->bytes[DCF_HDR_LEN] = draw(30) ? 0 : draw(16);
	if (draw(12))
		return;
	free(f->bytes); /* so that who reads beyond it is seen */
	f->len = 20;
	f->bytes = calloc(1, f->len);
	address(ra, to);
	address(ta, from);
	dcf_make_request(f->bytes, ra, ta, 0, draw(9) ? 0 : 5, sequence);
}

/* The recipient's half begins, or ends. */
static void agree_or_not(struct dcf *dcf, u16 stations)
{
	u16 from = draw(stations), to = draw(stations);
	struct dcf_scoreboard *board = boards[from][to];

	if (board) {
		dcf_end_scoreboard(dcf, to, board);
		free(board);
		boards[from][to] = NULL;
		return;
	}
	board = calloc(1, sizeof(*board));
	if (dcf_begin_scoreboard(dcf, to, board, from, 0, PICK(u16, 0, 1, 8, 64, 64, 256, 257), draw(65536)))
		boards[from][to] = board;
	else
		free(board);
}

static void send(struct dcf *dcf, u16 stations, u64 now)
{
	struct dcf_frame *f = calloc(1, sizeof(*f));
	u16 from = draw(stations), to;
	int i;

	f->len = DCF_HDR_LEN + draw(draw(4) ? 40 : draw(9) ? 1500 : 12000);
	f->bytes = calloc(1, f->len);
	f->bytes[0] = draw(2) ? 8 : 0x88;
	f->bytes[DCF_HDR_LEN - 1 + (f->len > DCF_HDR_LEN)] = draw(256);
	f->bytes[1] = draw(2) * 4; /* a fragment, perhaps the next */
	f->bytes[22] = draw(4);
	address(f->bytes + 4, draw(stations + 1));
	if (!draw(4))
		f->bytes[4] = 0xff;
	address(f->bytes + 10, from);
	f->freq = draw(80) ? channels[draw(4) ? 0 : draw(3)] : 0;
	f->no_ack = !draw(8);
	for (i = 0; i < 1 + (int)draw(DCF_STAGES); i++)
		f->stage[i] = (struct dcf_stage){
			.mode = draw(2) ? PICK(u16, 0, 1, 2, 3, 4, 6, 8, 11, 11, 11) : DCF_RATES + draw(draw(9) ? 4 : 6),
			.count = draw(3) + !!draw(50),
			.rts = !draw(3), .cts_to_self = !draw(4), .short_preamble = draw(2),
		};
	to = draw(stations);
	if (to != from && draw(2)) {
		address(f->bytes + 4, to);
		agree(f, from, to);
	}
	held++;
	dcf_enqueue(dcf, from, f, now);
}

static void link_up(struct dcf *dcf, u16 from, u16 to)
{
	dcf_set_link(dcf, from, to, &(struct dcf_link){
		.power_aw = PICK(u64, 0, 5, 20, 150, 1000, 50000, DCF_MAX_POWER_AW),
		.delay_ns = PICK(u32, 0, 667, DCF_MAX_DELAY_NS - 1, draw(DCF_MAX_DELAY_NS)),
	});
}

/* Any table, as long as it is one; what was there before is gone. */
static void tabulate(struct dcf *dcf)
{
	static struct dcf_point *point;
	struct dcf_point *old = point;
	struct dcf_table table = { .first = draw(20), .bin_bits = draw(8), .points = draw(500) };
	u32 i;

	point = calloc(table.points + 1, sizeof(*point));
	for (i = 0; i < table.points; i++)
		point[i] = (struct dcf_point){ .power_aw = PICK(u64, 0, 50, 5000, DCF_MAX_POWER_AW),
					       .delay_q16 = draw(DCF_MAX_DELAY_NS - 1) << 16 };
	table.point = point;
	if (dcf_set_table(dcf, &table)) {
		free(old);
	} else {
		free(point);
		point = old;
	}
}

/* Any quantiles, rising or not, or none. */
static void fade(struct dcf *dcf)
{
	u64 gain[DCF_FADES + 1], at = 0;
	u32 i;

	for (i = 0; i <= DCF_FADES; i++)
		gain[i] = at += PICK(u64, 0, 0, 1, draw(1ULL << 24), draw(1ULL << 30));
	if (!draw(4))
		gain[draw(DCF_FADES + 1)] = draw(DCF_MAX_GAIN_Q32);
	dcf_set_fading(dcf, draw(4) ? gain : NULL, PICK(u32, 0, 0, 1, draw(1 << 20), UINT32_MAX));
}

static s32 coordinate(void)
{
	return PICK(s32, 0, draw(3000), -(s32)draw(3000), draw(40) - 20, DCF_MAX_MM, -DCF_MAX_MM, draw(1ULL << 32));
}

/* Any way, sound or not; what was there before is gone. */
static void set_out(struct dcf *dcf, u16 stations, u64 now)
{
	u16 station = draw(stations), other = draw(stations);
	u32 count = draw(5), i, axis;
	u64 at = draw(100);
	struct dcf_waypoint *way = calloc(count + 1, sizeof(*way));
	struct dcf_link link;

	for (i = 0; i < count; i++, at += PICK(u64, 0, 1, 20, draw(3000), 400000000, 1ULL << 33)) {
		way[i].at_us = at;
		for (axis = 0; axis < 3; axis++)
			way[i].mm[axis] = i && draw(4) ? way[i - 1].mm[axis] + (s32)draw(9) - 4 : coordinate();
	}
	if (dcf_set_waypoints(dcf, station, way, count, PICK(u64, 0, now, now + draw(100000), now - draw(now + 1)))) {
		free(ways[station]);
		ways[station] = way;
	} else {
		free(way);
	}
	dcf_set_reach(dcf, station, &(struct dcf_reach){
		.mm2 = PICK(u64, 0, 1, draw(9000000), DCF_MAX_REACH_MM2, ~0ULL),
		.gain_q63 = PICK(u64, 0, draw(~0ULL), 1ULL << 63), .weaker_mdb = draw(2000001) - 1000000,
	});
	assert(dcf_get_link(dcf, station, other, &link) && link.power_aw <= DCF_MAX_POWER_AW && link.delay_ns < DCF_MAX_DELAY_NS);
}

/* Nothing takes longer than the measurement, give or take what is counted ahead while it lasts. */
static void check_times(const struct dcf *dcf, u16 stations, u64 now)
{
	u64 ahead = dcf_measuring(dcf) ? 40000000 : 0;
	u16 i;

	for (i = 0; i < stations; i++) {
		const struct dcf_counters *c = dcf_counters(dcf, i);

		assert(c->tx_ns <= now - started + ahead && c->nav_ns <= now - started + ahead);
		assert(c->busy_ns <= now - started);
	}
}

/* All signals have passed: nothing is left of their energy. */
static void check_silence(const struct dcf *dcf, u16 stations)
{
	u16 i, c;

	for (i = 0; i < stations; i++) {
		assert(!dcf->station[i].energy_aw && !dcf->station[i].sensed && !dcf->station[i].busy);
		for (c = 0; c < BAND_CHANNELS; c++)
			assert(!dcf->station[i].channel_aw[c]);
	}
}

static void operate(struct dcf *dcf, u16 stations, u64 *now)
{
	u8 addr[DCF_ALEN];
	u32 burst;

	*now += PICK(u64, 0, 1, 1000, draw(60000), draw(60000), draw(2000000));
	address(addr, draw(stations + 1));
	if (!draw(50))
		fade(dcf);
	if (!draw(10))
		agree_or_not(dcf, stations);
	if (!draw(20))
		dcf_set_thresholds(dcf, draw(stations + 1), PICK(u64, 0, 10, 100, 1000), PICK(u64, 0, 1, 10, 50, 500));
	if (!draw(30))
		dcf_set_formats(dcf, draw(stations + 1), draw(1 << DCF_FORMATS) | draw(2));
	if (!draw(20))
		dcf_set_edca(dcf, draw(stations + 1), draw(DCF_CATEGORIES + 1), &(struct dcf_edca){
			.cw_min = PICK(u16, 0, 1, 7, 31), .cw_max = PICK(u16, 0, 7, 1023, 65535),
			.txop_32us = PICK(u16, 0, 0, 47, 188, 65535), .aifsn = PICK(u8, 0, 1, 2, 3, 7, 255),
		});
	switch (draw(28)) {
	case 0:
		started = *now;
		return dcf_start(dcf, *now);
	case 1:
		dcf_stop(dcf, *now, 0);
		return check_times(dcf, stations, *now);
	case 2:
		return link_up(dcf, draw(stations), draw(stations));
	case 3:
	case 4:
		dcf_run(dcf, *now);
		dcf_set_station(dcf, draw(stations), channels[draw(3) ? 0 : draw(3)], 1 + draw(3), 1 + draw(3), 1 + draw(draw(2) ? 4 : 300), draw(2));
		return;
	case 5:
		if (!draw(8))
			dcf_flush(dcf);
		return;
	case 6:
		(draw(2) ? dcf_add_address : dcf_set_address)(dcf, draw(stations), addr);
		return;
	case 7:
		dcf_del_address(dcf, draw(stations), addr);
		return;
	case 8:
	case 9:
		return set_out(dcf, stations, *now);
	case 10:
		return draw(8) ? set_out(dcf, stations, *now) : tabulate(dcf);
	case 11:
	case 12:
	case 13:
	case 14:
	case 15:
		for (burst = draw(4) ? 1 : draw(70); burst--;)
			send(dcf, stations, *now);
		return;
	default:
		*now = dcf_next(dcf) == DCF_NEVER ? *now : dcf_max(*now, dcf_next(dcf));
		dcf_run(dcf, *now);
	}
}

/* Of each format one, and agreements of all kinds. */
static void make_modes(void)
{
	u16 i;

	mode_make(&modes[0], &(struct dcf_txvector){ DCF_HT, draw(8), 1 + draw(4), 0, 20, 400, draw(2), 0 });
	mode_make(&modes[1], &(struct dcf_txvector){ DCF_VHT, draw(9), 1 + draw(2), 0, 80, 800, draw(2), 0 });
	mode_make(&modes[2], &(struct dcf_txvector){ DCF_HE, draw(12), 1, 2, 80, 1600, true, 16 });
	mode_make(&modes[3], &(struct dcf_txvector){ DCF_HT, 0, 1, 0, 20, 800, false, 0 });
	for (i = 0; i < MOST * MOST; i++)
		sessions[i / MOST][i % MOST] = (struct dcf_session){
			.limits = { PICK(u32, 0, 100, 8191, 65535, 6500631), PICK(u32, 0, 1000000, 5484000, ~0U), PICK(u16, 0, 1, 7, 64, 256, 999),
				    PICK(u16, 0, 1000, 16000) },
			.window = PICK(u16, 1, 8, 64, 64, 256, draw(300)), .next = draw(SEQUENCE_NUMBERS), .tries = draw(20) ? 1 + draw(30) : 0,
		};
}

static void play(unsigned long operations)
{
	u16 stations = 2 + draw(MOST - 1), i, j;
	const struct dcf_ops ops = { .deliver = deliver, .done = done, .record = record, .sent = sent };
	u32 slot = PICK(u32, 1000, 9000, 20000);
	bool edca = draw(2);
	u8 reception = draw(DCF_RECEPTIONS);
	const struct dcf_config config = {
		.phy = {
			.slot_ns = slot, .sensing_ns = PICK(u32, 0, slot / 4, slot - 1), .sifs_ns = PICK(u32, DCF_MIN_SIFS_NS, 10000, 16000, DCF_MAX_SIFS_NS),
			.cw_min = PICK(u32, 0, 1, 15, 31), .cw_max = PICK(u32, 31, 1023),
			.signal_extension_ns = PICK(u32, 0, 6000), .basic_rates = PICK(u32, 1, 0x11, 0xfff),
		},
		.stations = stations, .reception = reception, .eifs = draw(DCF_EIFS_RULES),
		.nav_reset = draw(2), .retry_by_stages = draw(2), .trace = draw(2), .punctual = draw(2), .snap = 24 + draw(100),
		.rules = edca || draw(2) ? 0 : draw(1 << DCF_RULES), .edca = edca, .capture_ratio_milli = PICK(u32, 1000, 10000), .rx_threshold_aw = 100,
		.cs_threshold_aw = reception == DCF_SINR ? PICK(u64, 10, 500) : 10,
		.detect_ofdm_milli = PICK(u32, 0, 2512, DCF_MAX_DETECT_MILLI), .detect_dsss_milli = PICK(u32, 0, 229, 2512),
		.noise_aw = 1, .seed = draw(~0ULL),
	};
	struct dcf *dcf = calloc(1, dcf_size(stations));
	u64 now = started = 0;
	u8 addr[DCF_ALEN];

	memcpy(channels, draw(2) ? (u16[]){ 2412, 2412, 2437 } : (u16[]){ 5180, 5200, 5260 }, sizeof(channels));
	assert(dcf_check(&config) == DCF_SOUND);
	dcf_init(dcf, &config, &ops, NULL);
	make_modes();
	if (draw(4))
		dcf_set_modes(dcf, modes, 4);
	for (i = 0; i < stations; i++) {
		dcf_set_station(dcf, i, channels[0], 1 + draw(3), 1 + draw(3), 1 + draw(draw(2) ? 4 : 300), draw(2));
		address(addr, i);
		dcf_set_address(dcf, i, addr);
		for (j = 0; j < stations; j++)
			link_up(dcf, i, j);
	}
	while (operations--)
		operate(dcf, stations, &now);
	dcf_run(dcf, now + 1000000000000ULL);
	check_times(dcf, stations, now + 1000000000000ULL);
	assert(dcf_next(dcf) == DCF_NEVER);
	assert(!held);
	check_silence(dcf, stations);
	free(dcf);
	for (i = 0; i < MOST * MOST; i++) {
		free(boards[i / MOST][i % MOST]);
		boards[i / MOST][i % MOST] = NULL;
	}
	for (i = 0; i < MOST; i++) {
		free(ways[i]);
		ways[i] = NULL;
	}
}

int main(int argc, char **argv)
{
	unsigned long operations = argc > 1 ? strtoul(argv[1], NULL, 0) : 100000, n;

	for (n = 0; n < operations; n += ROUND) {
		state = ((argc > 2 ? strtoull(argv[2], NULL, 0) : 1) + n) * 0x9e3779b97f4a7c15ULL | 1;
		draw(2);
		play(ROUND);
	}
	return printf("%lu operations\n", n) < 0;
}
