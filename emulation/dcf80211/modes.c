// SPDX-License-Identifier: GPL-2.0-only
#include <linux/vmalloc.h>

#include "modes.h"

enum { WIDTHS = 4, GUARDS = 3 };
#define MOST ((DCF_FORMATS - DCF_HT) * MODE_MCS * MODE_STREAMS * WIDTHS * GUARDS)

static const u16 widths_mhz[WIDTHS] = { 20, 40, 80, 160 };
static const u16 guards_ns[DCF_FORMATS][GUARDS] = {
	[DCF_HT] = { 400, 800 }, [DCF_VHT] = { 400, 800 }, [DCF_HE] = { 800, 1600, 3200 },
};

struct modes {
	u16 count;
	struct dcf_mode mode[MOST];
	struct dcf_txvector vector[MOST];
	u16 place[MOST]; /* by key; 0: there is no such mode */
};

static u32 key_of(u8 format, u8 mcs, u8 streams, u8 width, u8 guard)
{
	return ((((format - DCF_HT) * MODE_MCS + mcs) * MODE_STREAMS + streams - 1) * WIDTHS + width) * GUARDS + guard;
}

static void add_mode(struct modes *m, u8 format, u8 mcs, u8 streams, u8 width, u8 guard)
{
	struct dcf_txvector v = {
		.format = format,
		.mcs = mcs,
		.streams = streams,
		.width_mhz = widths_mhz[width],
		.guard_ns = guards_ns[format][guard],
		.ltf = format != DCF_HE ? 0 : guard == 2 ? 4 : 2, /* the usual one of each guard interval */
		.ldpc = format == DCF_HE,
	};

	if (!v.guard_ns || mode_make(&m->mode[m->count], &v) != MODE_SOUND)
		return;
	m->vector[m->count] = v;
	m->place[key_of(format, mcs, streams, width, guard)] = DCF_RATES + m->count++;
}

struct modes *modes_create(void)
{
	struct modes *m = vzalloc(sizeof(*m));
	u32 i;

	for (i = 0; m && i < MOST; i++)
		add_mode(m, DCF_HT + i / GUARDS / WIDTHS / MODE_STREAMS / MODE_MCS,
			 i / GUARDS / WIDTHS / MODE_STREAMS % MODE_MCS, 1 + i / GUARDS / WIDTHS % MODE_STREAMS,
			 i / GUARDS % WIDTHS, i % GUARDS);
	return m;
}

void modes_destroy(struct modes *m)
{
	vfree(m);
}

bool modes_set(const struct modes *m, struct dcf *dcf)
{
	return dcf_set_modes(dcf, m->mode, m->count);
}

const struct dcf_mode *modes_at(const struct modes *m, u16 place)
{
	return place < DCF_RATES ? &mode_legacy[place] : &m->mode[place - DCF_RATES];
}

int modes_find(const struct modes *m, u8 format, u8 mcs, u8 streams, u16 width_mhz, u16 guard_ns)
{
	u8 width, guard;

	if (format < DCF_HT || format >= DCF_FORMATS || mcs >= MODE_MCS || !streams || streams > MODE_STREAMS)
		return -1;
	for (width = 0; width < WIDTHS && widths_mhz[width] != width_mhz;)
		width++;
	for (guard = 0; guard < GUARDS && guards_ns[format][guard] != guard_ns;)
		guard++;
	if (width == WIDTHS || guard == GUARDS)
		return -1;
	return m->place[key_of(format, mcs, streams, width, guard)] ?: -1;
}

static u16 width_of(u16 flags)
{
	return flags & IEEE80211_TX_RC_160_MHZ_WIDTH ? 160 : flags & IEEE80211_TX_RC_80_MHZ_WIDTH ? 80 :
	       flags & IEEE80211_TX_RC_40_MHZ_WIDTH ? 40 : 20;
}

int modes_of_rate(const struct modes *m, const struct ieee80211_tx_rate *rate, u16 freq)
{
	u16 guard_ns = rate->flags & IEEE80211_TX_RC_SHORT_GI ? 400 : 800;
	u8 mcs, streams, format;

	if (rate->flags & IEEE80211_TX_RC_VHT_MCS) {
		format = DCF_VHT;
		mcs = ieee80211_rate_get_vht_mcs(rate);
		streams = ieee80211_rate_get_vht_nss(rate);
	} else if (rate->flags & IEEE80211_TX_RC_MCS) {
		format = DCF_HT;
		mcs = rate->idx % 8;
		streams = rate->idx / 8 + 1;
	} else {
		return rate_from_hwsim(rate->idx, freq);
	}
	return modes_find(m, format, mcs, streams, width_of(rate->flags), guard_ns);
}

void modes_to_rate(const struct modes *m, u16 place, struct ieee80211_tx_rate *rate)
{
	static const u16 flags[WIDTHS] = {
		0, IEEE80211_TX_RC_40_MHZ_WIDTH, IEEE80211_TX_RC_80_MHZ_WIDTH, IEEE80211_TX_RC_160_MHZ_WIDTH,
	};
	const struct dcf_txvector *v = &m->vector[place - DCF_RATES];
	u8 width;

	for (width = 0; widths_mhz[width] != v->width_mhz;)
		width++;
	rate->flags = flags[width] | (v->guard_ns == 400 ? IEEE80211_TX_RC_SHORT_GI : 0);
	if (v->format == DCF_VHT) {
		ieee80211_rate_set_vht(rate, v->mcs, v->streams);
		rate->flags |= IEEE80211_TX_RC_VHT_MCS;
	} else {
		rate->idx = v->mcs + 8 * (v->streams - 1);
		rate->flags |= IEEE80211_TX_RC_MCS;
	}
}

u16 modes_with_mcs(const struct modes *m, u16 place, u8 mcs)
{
	const struct dcf_txvector *v = &m->vector[place - DCF_RATES];
	int found = modes_find(m, v->format, mcs, v->streams, v->width_mhz, v->guard_ns);

	return found < 0 ? place : found;
}

u8 modes_mcs(const struct modes *m, u16 place)
{
	return m->vector[place - DCF_RATES].mcs;
}

bool modes_is_beyond(const struct modes *m, u16 place)
{
	const struct dcf_mode *mode = modes_at(m, place);

	return mode->format == DCF_HE || mode->doublings == 3;
}

static u8 he_guard(u16 guard_ns)
{
	return guard_ns == 800 ? NL80211_RATE_INFO_HE_GI_0_8 :
	       guard_ns == 1600 ? NL80211_RATE_INFO_HE_GI_1_6 : NL80211_RATE_INFO_HE_GI_3_2;
}

static u8 bandwidth_of(u16 width_mhz)
{
	return width_mhz == 160 ? RATE_INFO_BW_160 : width_mhz == 80 ? RATE_INFO_BW_80 :
	       width_mhz == 40 ? RATE_INFO_BW_40 : RATE_INFO_BW_20;
}

void modes_to_info(const struct modes *m, u16 place, struct rate_info *rate)
{
	const struct dcf_txvector *v = &m->vector[place - DCF_RATES];

	*rate = (struct rate_info){
		.flags = v->format == DCF_HE ? RATE_INFO_FLAGS_HE_MCS : v->format == DCF_VHT ? RATE_INFO_FLAGS_VHT_MCS : RATE_INFO_FLAGS_MCS,
		.mcs = v->format == DCF_HT ? v->mcs + 8 * (v->streams - 1) : v->mcs,
		.nss = v->streams,
		.bw = bandwidth_of(v->width_mhz),
	};
	if (v->format == DCF_HE)
		rate->he_gi = he_guard(v->guard_ns);
	else if (v->guard_ns == 400)
		rate->flags |= RATE_INFO_FLAGS_SHORT_GI;
}

void modes_to_reception(const struct modes *m, u16 place, struct ieee80211_rx_status *status)
{
	const struct dcf_txvector *v;

	if (place < DCF_RATES) {
		status->rate_idx = rate_to_hwsim(place, status->freq);
		return;
	}
	v = &m->vector[place - DCF_RATES];
	status->encoding = v->format == DCF_HT ? RX_ENC_HT : v->format == DCF_VHT ? RX_ENC_VHT : RX_ENC_HE;
	status->rate_idx = v->format == DCF_HT ? v->mcs + 8 * (v->streams - 1) : v->mcs;
	status->nss = v->streams;
	status->bw = bandwidth_of(v->width_mhz);
	if (v->format == DCF_HE)
		status->he_gi = he_guard(v->guard_ns);
	else if (v->guard_ns == 400)
		status->enc_flags = RX_ENC_FLAG_SHORT_GI;
}

bool modes_fit(const struct modes *m, u16 place, const struct ieee80211_sta *sta)
{
	const struct dcf_txvector *v = &m->vector[place - DCF_RATES];

	if ((20 << sta->deflink.bandwidth) < v->width_mhz || sta->deflink.rx_nss < v->streams)
		return false;
	return v->format == DCF_HE ? sta->deflink.he_cap.has_he :
	       v->format == DCF_VHT ? sta->deflink.vht_cap.vht_supported : sta->deflink.ht_cap.ht_supported;
}
