// SPDX-License-Identifier: GPL-2.0-only
#include "mode.h"

#define DSSS(rate_, place)                                                          \
	{ .format = DCF_DSSS, .curve = place, .reference = place, .rate = rate_,     \
	  .preamble_ns = 192 * US, .symbol_ns = 10 * US, .bits = rate_ }
#define OFDM(rate_, place)                                                          \
	{ .format = DCF_OFDM, .curve = place, .reference = place, .rate = rate_,     \
	  .encoders = 1, .preamble_ns = 20 * US, .symbol_ns = 4 * US, .bits = rate_ * 4 / 10 }

const struct dcf_mode mode_legacy[DCF_RATES] = {
	DSSS(10, 0), DSSS(20, 1), DSSS(55, 2), DSSS(110, 3), OFDM(60, 4), OFDM(90, 5),
	OFDM(120, 6), OFDM(180, 7), OFDM(240, 8), OFDM(360, 9), OFDM(480, 10), OFDM(540, 11),
};

/* By MCS: coded bits of a subcarrier, code rate, and the legacy rate with these, or the nearest one below (10.6.11). */
static const struct {
	u8 bits, numerator, denominator, reference;
} mcs_table[MODE_MCS] = {
	{ 1, 1, 2, 4 }, { 2, 1, 2, 6 }, { 2, 3, 4, 7 }, { 4, 1, 2, 8 }, { 4, 3, 4, 9 }, { 6, 2, 3, 10 },
	{ 6, 3, 4, 11 }, { 6, 5, 6, 11 }, { 8, 3, 4, 11 }, { 8, 5, 6, 11 }, { 10, 3, 4, 11 }, { 10, 5, 6, 11 },
};

/* By width, 20 to 160 MHz: data subcarriers (tables 19-6, 21-5, 27-16), and those of HE's quarter symbol (table 27-33). */
enum { WIDTHS = 4 };
static const u16 subcarriers[DCF_FORMATS][WIDTHS] = {
	[DCF_HT] = { 52, 108 }, [DCF_VHT] = { 52, 108, 234, 468 }, [DCF_HE] = { 234, 468, 980, 1960 },
};
static const u16 subcarriers_short[WIDTHS] = { 60, 120, 240, 492 };

/* Long training fields, by streams (tables 19-13, 21-13). */
static const u8 training[MODE_STREAMS + 1] = { 0, 1, 2, 4, 4 };

static u32 div_up(u64 a, u32 b)
{
	return (a + b - 1) / b;
}

static int width_index(u16 mhz)
{
	return mhz == 20 ? 0 : mhz == 40 ? 1 : mhz == 80 ? 2 : mhz == 160 ? 3 : -1;
}

static bool he_symbols(u8 ltf, u16 guard_ns)
{
	switch (guard_ns) {
	case 800:
		return ltf == 1 || ltf == 2 || ltf == 4;
	case 1600:
		return ltf == 2;
	case 3200:
		return ltf == 4;
	default:
		return false;
	}
}

static enum mode_refusal mode_check(const struct dcf_txvector *v)
{
	static const u8 most[DCF_FORMATS] = { [DCF_HT] = 8, [DCF_VHT] = 10, [DCF_HE] = 12 };
	bool he = v->format == DCF_HE;

	if (v->format < DCF_HT || v->format > DCF_HE)
		return MODE_BAD_FORMAT;
	if (v->mcs >= most[v->format])
		return MODE_BAD_MCS;
	if (!v->streams || v->streams > MODE_STREAMS)
		return MODE_BAD_STREAMS;
	if (width_index(v->width_mhz) < 0 || !subcarriers[v->format][width_index(v->width_mhz)])
		return MODE_BAD_WIDTH;
	if (he ? v->guard_ns != 800 && v->guard_ns != 1600 && v->guard_ns != 3200 : v->guard_ns != 400 && v->guard_ns != 800)
		return MODE_BAD_GUARD;
	if (he ? !he_symbols(v->ltf, v->guard_ns) : v->ltf)
		return MODE_BAD_LTF;
	if (he && !v->ldpc && (v->width_mhz > 20 || v->mcs > 9))
		return MODE_BAD_CODING;
	if (v->padding_us && (!he || (v->padding_us != 8 && v->padding_us != 16)))
		return MODE_BAD_PADDING;
	return MODE_SOUND;
}

/*
 * BCC encoders. HT has a second one above 300 Mb/s (19.5). VHT has one for each
 * 540 Mb/s of the long guard interval, and one more where the bits of a symbol
 * would not divide evenly (tables of 21.5; for up to four streams this is one
 * mode).
 */
static u8 encoders_of(const struct dcf_txvector *v, u32 bits)
{
	if (v->format == DCF_HE)
		return 1;
	if (v->format == DCF_HT)
		return bits > 1200 ? 2 : 1;
	if (v->width_mhz == 160 && v->streams == 4 && v->mcs == 7)
		return 6;
	return div_up(bits, 2160);
}

/* VHT lacks the modes in which an encoder's coded bits are not a whole number of code blocks (21.5). */
static bool vht_excludes(const struct dcf_txvector *v, const struct dcf_mode *m)
{
	u8 encoders = encoders_of(v, m->bits);

	return v->format == DCF_VHT && (m->coded % encoders || m->coded / encoders % m->denominator);
}

static u16 code_of(const struct dcf_txvector *v)
{
	const u16 guard = v->guard_ns == 400 ? 0 : v->guard_ns == 800 ? 1 : v->guard_ns == 1600 ? 2 : 3;

	return v->format | v->mcs << 3 | (v->streams - 1) << 7 | width_index(v->width_mhz) << 9 | guard << 11 | v->ldpc << 13 |
	       (v->ltf == 4 ? 3 : v->ltf) << 14;
}

enum mode_refusal mode_make(struct dcf_mode *m, const struct dcf_txvector *v)
{
	enum mode_refusal why = mode_check(v);
	u32 per_subcarrier, field;

	if (why != MODE_SOUND)
		return why;
	per_subcarrier = mcs_table[v->mcs].bits * v->streams;
	*m = (struct dcf_mode){
		.format = v->format,
		.curve = (v->ldpc ? MODE_LDPC : MODE_BCC) + v->mcs,
		.reference = mcs_table[v->mcs].reference,
		.numerator = mcs_table[v->mcs].numerator,
		.denominator = mcs_table[v->mcs].denominator,
		.code = code_of(v),
		.padding_us = v->padding_us,
		.doublings = width_index(v->width_mhz),
		.symbol_ns = (v->format == DCF_HE ? 12800 : 3200) + v->guard_ns,
		.coded = subcarriers[v->format][width_index(v->width_mhz)] * per_subcarrier,
	};
	m->bits = m->coded * m->numerator / m->denominator;
	if (vht_excludes(v, m))
		return MODE_EXCLUDED;
	m->encoders = v->ldpc ? 0 : encoders_of(v, m->bits);
	m->rate = ((u64)m->bits * 10000 + m->symbol_ns / 2) / m->symbol_ns;
	field = v->format == DCF_HE ? 3200 * v->ltf + v->guard_ns : 4000;
	m->preamble_ns = (v->format == DCF_HT ? 32000 : 36000) + training[v->streams] * field;
	if (v->format == DCF_HE) {
		m->coded_short = subcarriers_short[width_index(v->width_mhz)] * per_subcarrier;
		m->bits_short = m->coded_short * m->numerator / m->denominator;
	}
	return MODE_SOUND;
}

u32 mode_preamble_ns(const struct dcf_mode *m, bool short_preamble)
{
	return short_preamble && m->format == DCF_DSSS && m->rate != 10 ? 96 * US : m->preamble_ns;
}

/*
 * LDPC fills the symbols with whole code words: it leaves out data bits
 * (shortening) and coded bits (puncturing). Are so many coded bits left out that
 * it needs more symbols? (19.3.11.7.5, steps b to d)
 */
static bool ldpc_wants_more(const struct dcf_mode *m, u64 payload, u64 room)
{
	u32 n = m->numerator, d = m->denominator, left = d - n, word = 1944;
	u64 words = 1, data, coded, shortened, punctured;

	if (room <= 648)
		word = room * d >= payload * d + 912 * left ? 1296 : 648;
	else if (room <= 1296)
		word = room * d >= payload * d + 1464 * left ? 1944 : 1296;
	else if (room > 1944 && room <= 2592)
		words = 2, word = room * d >= payload * d + 2916 * left ? 1944 : 1296;
	else if (room > 2592)
		words = div_up(payload * d, 1944 * n);
	coded = words * word;
	data = coded / d * n;
	shortened = data > payload ? data - payload : 0;
	punctured = coded > room + shortened ? coded - room - shortened : 0;
	return (10 * d * punctured > coded * left && 10 * left * shortened < 12 * n * punctured) ||
	       10 * d * punctured > 3 * coded * left;
}

/*
 * SERVICE, PSDU and tail bits in symbols. *@parts: the quarters of the last symbol that HE fills
 * before its FEC (a, 27.3.12).
 */
static u32 count_symbols(const struct dcf_mode *m, u32 len, u32 *parts)
{
	u64 bits = 16 + 8ULL * len, all = bits + 6 * m->encoders, payload, room;
	u32 symbols = div_up(all, m->bits), over = all % m->bits;

	*parts = m->bits_short && over && over <= 3 * m->bits_short ? div_up(over, m->bits_short) : 4;
	if (m->format < DCF_HT || m->encoders)
		return symbols;
	if (m->format != DCF_HE) {
		/*
		 * HT: the code words hold the PSDU. VHT: they hold as much as fills the symbols
		 * (19.3.11.7.5 a, 21.3.10.5.4).
		 */
		payload = m->format == DCF_HT ? bits : (u64)symbols * m->bits;
		return symbols + ldpc_wants_more(m, payload, (u64)symbols * m->coded);
	}
	payload = (symbols - 1ULL) * m->bits + (*parts < 4 ? *parts * m->bits_short : m->bits);
	room = (symbols - 1ULL) * m->coded + (*parts < 4 ? *parts * m->coded_short : m->coded);
	if (ldpc_wants_more(m, payload, room) && ++*parts > 4) {
		*parts = 1;
		symbols++;
	}
	return symbols;
}

u32 mode_txtime_ns(const struct dcf_mode *m, u32 len, bool short_preamble)
{
	u32 preamble = mode_preamble_ns(m, short_preamble), parts;
	u64 data;

	if (m->format == DCF_DSSS)
		return preamble + div_up(80ULL * len, m->rate) * US;
	data = (u64)count_symbols(m, len, &parts) * m->symbol_ns;
	/* With a short guard interval, the PPDU ends where one with a long interval would. */
	if (m->format == DCF_HT || m->format == DCF_VHT)
		data = (data + 3999) / 4000 * 4000;
	/* Packet extension (27.3.13): none, or the time that is left after the padding. */
	else if (4 * parts + m->padding_us > 16)
		data += (4 * parts + m->padding_us - 16) * US;
	return data > ~0U - preamble ? ~0U : preamble + data;
}

u32 mode_at_ns(const struct dcf_mode *m, u64 bits)
{
	return (m->format == DCF_DSSS ? bits : 16 + bits) * m->symbol_ns / m->bits;
}
