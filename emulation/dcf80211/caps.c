// SPDX-License-Identifier: GPL-2.0-only
/* What radios of HT and later say that they can do: channels, rates, HT, VHT and HE capabilities. */
#include <linux/slab.h>

#include "driver.h"

#define CHANNEL(band_, freq, number) { .band = (band_), .center_freq = (freq), .hw_value = (number), .max_power = 20 }
#define CHANNEL_2GHZ(number) CHANNEL(NL80211_BAND_2GHZ, 2407 + 5 * (number), number)
#define CHANNEL_5GHZ(number) CHANNEL(NL80211_BAND_5GHZ, 5000 + 5 * (number), number)

static const struct ieee80211_channel channels_2ghz[] = {
	CHANNEL_2GHZ(1), CHANNEL_2GHZ(2), CHANNEL_2GHZ(3), CHANNEL_2GHZ(4), CHANNEL_2GHZ(5), CHANNEL_2GHZ(6),
	CHANNEL_2GHZ(7), CHANNEL_2GHZ(8), CHANNEL_2GHZ(9), CHANNEL_2GHZ(10), CHANNEL_2GHZ(11),
};

static const struct ieee80211_channel channels_5ghz[] = {
	CHANNEL_5GHZ(36), CHANNEL_5GHZ(40), CHANNEL_5GHZ(44), CHANNEL_5GHZ(48),
	CHANNEL_5GHZ(149), CHANNEL_5GHZ(153), CHANNEL_5GHZ(157), CHANNEL_5GHZ(161), CHANNEL_5GHZ(165),
	CHANNEL_5GHZ(169), CHANNEL_5GHZ(173), CHANNEL_5GHZ(177),
};

/* In the order of dcf_rates, of which 5 GHz has those from 6 Mb/s on. */
static const struct ieee80211_rate rates[DCF_RATES] = {
	{ .bitrate = 10 },
	{ .bitrate = 20, .flags = IEEE80211_RATE_SHORT_PREAMBLE },
	{ .bitrate = 55, .flags = IEEE80211_RATE_SHORT_PREAMBLE },
	{ .bitrate = 110, .flags = IEEE80211_RATE_SHORT_PREAMBLE },
	{ .bitrate = 60 }, { .bitrate = 90 }, { .bitrate = 120 }, { .bitrate = 180 },
	{ .bitrate = 240 }, { .bitrate = 360 }, { .bitrate = 480 }, { .bitrate = 540 },
};

/* Linux's clients use neither VHT nor HE at 5 GHz without 40 MHz in HT. The channel says what is used. */
static void set_ht(const struct driver_traits *t, struct ieee80211_sta_ht_cap *ht, bool is_5ghz)
{
	int i;

	ht->ht_supported = true;
	ht->cap = WLAN_HT_CAP_SM_PS_DISABLED << IEEE80211_HT_CAP_SM_PS_SHIFT;
	if (t->guard_ns == 400)
		ht->cap |= IEEE80211_HT_CAP_SGI_20;
	if (t->width_mhz >= 40 || (is_5ghz && t->format >= DCF_VHT)) {
		ht->cap |= IEEE80211_HT_CAP_SUP_WIDTH_20_40;
		if (t->guard_ns == 400)
			ht->cap |= IEEE80211_HT_CAP_SGI_40;
	}
	ht->ampdu_factor = IEEE80211_HT_MAX_AMPDU_64K;
	ht->ampdu_density = t->density;
	for (i = 0; i < t->streams; i++)
		ht->mcs.rx_mask[i] = 0xff;
	ht->mcs.tx_params = IEEE80211_HT_MCS_TX_DEFINED;
}

static void set_vht(const struct driver_traits *t, struct ieee80211_sta_vht_cap *vht)
{
	u16 map = 0;
	int i;

	vht->vht_supported = true;
	vht->cap = IEEE80211_VHT_CAP_MAX_MPDU_LENGTH_3895 | IEEE80211_VHT_CAP_MAX_A_MPDU_LENGTH_EXPONENT_MASK;
	if (t->guard_ns == 400)
		vht->cap |= IEEE80211_VHT_CAP_SHORT_GI_80;
	if (t->width_mhz == 160) {
		vht->cap |= IEEE80211_VHT_CAP_SUPP_CHAN_WIDTH_160MHZ;
		if (t->guard_ns == 400)
			vht->cap |= IEEE80211_VHT_CAP_SHORT_GI_160;
	}
	for (i = 0; i < 8; i++)
		map |= (i < t->streams ? IEEE80211_VHT_MCS_SUPPORT_0_9 : IEEE80211_VHT_MCS_NOT_SUPPORTED) << 2 * i;
	vht->vht_mcs.rx_mcs_map = cpu_to_le16(map);
	vht->vht_mcs.tx_mcs_map = cpu_to_le16(map);
}

static void set_he(const struct driver_traits *t, struct ieee80211_sband_iftype_data *data, bool is_5ghz)
{
	struct ieee80211_sta_he_cap *he = &data->he_cap;
	u16 map = 0, wide;
	int i;

	data->types_mask = BIT(NL80211_IFTYPE_STATION) | BIT(NL80211_IFTYPE_AP) | BIT(NL80211_IFTYPE_MESH_POINT);
	he->has_he = true;
	he->he_cap_elem.mac_cap_info[0] = IEEE80211_HE_MAC_CAP0_HTC_HE;
	he->he_cap_elem.mac_cap_info[3] = IEEE80211_HE_MAC_CAP3_MAX_AMPDU_LEN_EXP_EXT_3;
	he->he_cap_elem.phy_cap_info[0] = is_5ghz ? IEEE80211_HE_PHY_CAP0_CHANNEL_WIDTH_SET_40MHZ_80MHZ_IN_5G :
						    IEEE80211_HE_PHY_CAP0_CHANNEL_WIDTH_SET_40MHZ_IN_2G;
	he->he_cap_elem.phy_cap_info[1] = IEEE80211_HE_PHY_CAP1_LDPC_CODING_IN_PAYLOAD;
	for (i = 0; i < 8; i++)
		map |= (i < t->streams ? IEEE80211_HE_MCS_SUPPORT_0_11 : IEEE80211_HE_MCS_NOT_SUPPORTED) << 2 * i;
	he->he_mcs_nss_supp.rx_mcs_80 = cpu_to_le16(map);
	he->he_mcs_nss_supp.tx_mcs_80 = cpu_to_le16(map);
	wide = is_5ghz && t->width_mhz == 160 ? map : 0xffff;
	if (wide == map)
		he->he_cap_elem.phy_cap_info[0] |= IEEE80211_HE_PHY_CAP0_CHANNEL_WIDTH_SET_160MHZ_IN_5G;
	he->he_mcs_nss_supp.rx_mcs_160 = cpu_to_le16(wide);
	he->he_mcs_nss_supp.tx_mcs_160 = cpu_to_le16(wide);
	he->he_mcs_nss_supp.rx_mcs_80p80 = cpu_to_le16(0xffff);
	he->he_mcs_nss_supp.tx_mcs_80p80 = cpu_to_le16(0xffff);
}

static int set_band(struct driver *d, int band, const struct ieee80211_channel *channels, size_t size)
{
	struct ieee80211_supported_band *b = &d->band[band];
	int first = band == NL80211_BAND_2GHZ ? 0 : 4;

	b->band = band;
	b->channels = kmemdup(channels, size, GFP_KERNEL); /* cfg80211 writes to both */
	b->n_channels = size / sizeof(*channels);
	b->bitrates = kmemdup(rates + first, sizeof(rates) - first * sizeof(*rates), GFP_KERNEL);
	b->n_bitrates = DCF_RATES - first;
	if (!b->channels || !b->bitrates)
		return -ENOMEM;
	if (d->traits.format >= DCF_HT)
		set_ht(&d->traits, &b->ht_cap, band == NL80211_BAND_5GHZ);
	if (band == NL80211_BAND_5GHZ && d->traits.format >= DCF_VHT)
		set_vht(&d->traits, &b->vht_cap);
	if (d->traits.format >= DCF_HE) {
		set_he(&d->traits, &d->he[band], band == NL80211_BAND_5GHZ);
		_ieee80211_set_sband_iftype_data(b, &d->he[band], 1);
	}
	d->hw->wiphy->bands[band] = b;
	return 0;
}

int caps_set(struct driver *d)
{
	return set_band(d, NL80211_BAND_2GHZ, channels_2ghz, sizeof(channels_2ghz)) ?:
	       set_band(d, NL80211_BAND_5GHZ, channels_5ghz, sizeof(channels_5ghz));
}

void caps_free(struct driver *d)
{
	int band;

	for (band = 0; band < NUM_NL80211_BANDS; band++) {
		kfree(d->band[band].channels);
		kfree(d->band[band].bitrates);
	}
}
