// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commands that change an air at any time: its stations, the powers between
 * them, and their positions.
 *
 * The core only points to its table and to the stations' waypoints, so they are
 * stored here. A list that is too long for a message comes in several, which
 * append to it.
 */
#include <linux/etherdevice.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "control.h"
#include "protocol.h"

#define MOST_ENTRIES (1U << 20)

int do_station(struct sk_buff *skb, struct genl_info *info)
{
	struct air *air = control_air(info, station_needs);
	struct nlattr **a = info->attrs;
	unsigned long flags;
	u8 perm[ETH_ALEN], short_limit, long_limit;
	u16 station, queue;
	u64 rx_aw, cs_aw;
	bool ok;

	if (IS_ERR(air))
		return PTR_ERR(air);
	station = nla_get_u16(a[A_STATION]);
	short_limit = nla_get_u8(a[A_SHORT_RETRY]);
	long_limit = nla_get_u8(a[A_LONG_RETRY]);
	queue = nla_get_u16(a[A_QUEUE]);
	rx_aw = nla_get_u64(a[A_RX_THRESHOLD_AW]);
	cs_aw = nla_get_u64(a[A_CS_THRESHOLD_AW]);
	radio_perm_addr(perm, nla_data(a[A_RADIO])); /* the other addresses come by ADD_MAC_ADDR */
	control_begin(air, &flags);
	/* The address comes last: after it, nothing can be refused. */
	ok = dcf_check_station(air->dcf, station, short_limit, long_limit, queue) && dcf_check_thresholds(air->dcf, rx_aw, cs_aw) &&
	     dcf_set_address(air->dcf, station, perm);
	if (ok) {
		dcf_set_station(air->dcf, station, nla_get_u16(a[A_FREQ]), short_limit, long_limit, queue,
				nla_get_u8(a[A_PROMISCUOUS]));
		dcf_set_thresholds(air->dcf, station, rx_aw, cs_aw);
		raw_spin_lock(&air->edca_lock);
		if (!ether_addr_equal_unaligned(air->radio[station].addr, nla_data(a[A_RADIO])))
			RCU_INIT_POINTER(air->radio[station].monitored, NULL);
		nla_memcpy(air->radio[station].addr, a[A_RADIO], ETH_ALEN);
		air->radio[station].named = true;
		raw_spin_unlock(&air->edca_lock);
	}
	control_end(air, flags);
	if (!ok)
		NL_SET_ERR_MSG(info->extack, "no such station, its address is another's, a retry limit of 0, a queue not within 1..150, with EDCA 1..37, or a threshold that is 0 or, with capture, one to receive below that to sense");
	return ok ? 0 : -EINVAL;
}

int do_links(struct sk_buff *skb, struct genl_info *info)
{
	struct air *air = control_air(info, links_needs);
	struct dcf_link *link;
	unsigned long flags;
	bool ok = true;
	u16 from, to;

	if (IS_ERR(air))
		return PTR_ERR(air);
	from = nla_get_u16(info->attrs[A_STATION]);
	if (from >= air->stations || nla_len(info->attrs[A_LINKS]) != air->stations * (int)sizeof(*link)) {
		NL_SET_ERR_MSG(info->extack, "no such station, or not one entry of 16 bytes for each station");
		return -EINVAL;
	}
	/* A copy, as the attribute is only aligned to 4. */
	link = kmemdup(nla_data(info->attrs[A_LINKS]), nla_len(info->attrs[A_LINKS]), GFP_KERNEL);
	if (!link)
		return -ENOMEM;
	for (to = 0; to < air->stations; to++)
		ok &= to == from || dcf_check_link(&link[to]);
	if (ok) {
		control_begin(air, &flags);
		for (to = 0; to < air->stations; to++)
			dcf_set_link(air->dcf, from, to, &link[to]);
		control_end(air, flags);
	}
	kfree(link);
	if (!ok)
		NL_SET_ERR_MSG(info->extack, "a delay of 32 us or more, or a power above 10 W");
	return ok ? 0 : -EINVAL;
}

int do_errors(struct sk_buff *skb, struct genl_info *info)
{
	struct air *air = control_air(info, errors_needs);
	struct nlattr **a = info->attrs;
	struct dcf_errors *errors;
	unsigned long flags;
	bool ok;

	if (IS_ERR(air))
		return PTR_ERR(air);
	if (nla_len(a[A_LAMBDA_Q40]) % sizeof(u64) || !nla_len(a[A_LAMBDA_Q40])) {
		NL_SET_ERR_MSG(info->extack, "the table is not a list of 64-bit numbers");
		return -EINVAL;
	}
	errors = kzalloc(sizeof(*errors), GFP_KERNEL);
	if (!errors)
		return -ENOMEM;
	errors->first_mdb = nla_get_s32(a[A_FIRST_MDB]);
	errors->step_mdb = nla_get_u32(a[A_STEP_MDB]);
	errors->points = nla_len(a[A_LAMBDA_Q40]) / sizeof(u64);
	nla_memcpy(errors->lambda_q40, a[A_LAMBDA_Q40], sizeof(errors->lambda_q40));
	control_begin(air, &flags);
	ok = dcf_set_curve(air->dcf, nla_get_u8(a[A_CURVE]), errors);
	control_end(air, flags);
	kfree(errors);
	if (!ok)
		NL_SET_ERR_MSG(info->extack, "no such table, a step of 0, or a value above 2^40");
	return ok ? 0 : -EINVAL;
}

int do_fading(struct sk_buff *skb, struct genl_info *info)
{
	struct air *air = control_air(info, fading_needs);
	const struct nlattr *given = info->attrs[A_GAIN_Q32];
	unsigned long flags;
	u64 *gain = NULL;
	bool ok;

	if (IS_ERR(air))
		return PTR_ERR(air);
	if (nla_len(given) && nla_len(given) != (DCF_FADES + 1) * sizeof(*gain)) {
		NL_SET_ERR_MSG(info->extack, "not 1025 numbers of 64 bits, nor none");
		return -EINVAL;
	}
	if (nla_len(given)) {
		gain = kmemdup(nla_data(given), nla_len(given), GFP_KERNEL);
		if (!gain)
			return -ENOMEM;
	}
	control_begin(air, &flags);
	ok = dcf_set_fading(air->dcf, gain, nla_get_u32(info->attrs[A_COHERENCE_NS]));
	control_end(air, flags);
	kfree(gain);
	if (!ok)
		NL_SET_ERR_MSG(info->extack, "the quantiles fall, or are above 2^38");
	return ok ? 0 : -EINVAL;
}

/* Copy the first @offset entries of @old and append the message's entries; set @count to their number. */
static void *settings_grown(struct genl_info *info, const void *old, u32 had, int attr, size_t size, u32 *count)
{
	u32 offset = nla_get_u32(info->attrs[A_OFFSET]), more = nla_len(info->attrs[attr]) / size;
	void *new;

	if (nla_len(info->attrs[attr]) % size || offset > had || offset + more > MOST_ENTRIES) {
		NL_SET_ERR_MSG(info->extack, "not whole entries, an offset beyond the end of what there is, or more than 2^20 in all");
		return ERR_PTR(-EINVAL);
	}
	*count = offset + more;
	new = kvmalloc_array(*count + 1, size, GFP_KERNEL); /* an empty list is valid */
	if (!new)
		return ERR_PTR(-ENOMEM);
	memcpy(new, old, offset * size);
	memcpy(new + offset * size, nla_data(info->attrs[attr]), more * size);
	return new;
}

int do_table(struct sk_buff *skb, struct genl_info *info)
{
	struct air *air = control_air(info, table_needs);
	struct dcf_table table;
	struct dcf_point *point;
	unsigned long flags;
	bool ok;

	if (IS_ERR(air))
		return PTR_ERR(air);
	point = settings_grown(info, air->point, air->points, A_POINTS, sizeof(*point), &table.points);
	if (IS_ERR(point))
		return PTR_ERR(point);
	table.point = point;
	table.first = nla_get_u8(info->attrs[A_FIRST_OCTAVE]);
	table.bin_bits = nla_get_u8(info->attrs[A_BIN_BITS]);
	control_begin(air, &flags);
	ok = dcf_set_table(air->dcf, &table);
	if (ok) {
		swap(air->point, point);
		air->points = table.points;
	}
	control_end(air, flags);
	kvfree(point);
	if (!ok)
		NL_SET_ERR_MSG(info->extack, "octaves have 2 to 4096 points and end below 2^63; a delay is below 31999 ns, a power at most 10 W and a million mdBm");
	return ok ? 0 : -EINVAL;
}

int do_reach(struct sk_buff *skb, struct genl_info *info)
{
	struct air *air = control_air(info, reach_needs);
	struct nlattr **a = info->attrs;
	struct dcf_reach reach;
	unsigned long flags;
	bool ok;

	if (IS_ERR(air))
		return PTR_ERR(air);
	reach = (struct dcf_reach){
		.mm2 = nla_get_u64(a[A_REACH_MM2]),
		.gain_q63 = nla_get_u64(a[A_GAIN_Q63]),
		.weaker_mdb = nla_get_s32(a[A_WEAKER_MDB]),
	};
	control_begin(air, &flags);
	ok = dcf_set_reach(air->dcf, nla_get_u16(a[A_STATION]), &reach);
	control_end(air, flags);
	if (!ok)
		NL_SET_ERR_MSG(info->extack, "no such station, a reach above 1.2 * 10^17 mm^2, a gain above 2^63, or more than a million thousandths of a dB");
	return ok ? 0 : -EINVAL;
}

int do_waypoints(struct sk_buff *skb, struct genl_info *info)
{
	struct air *air = control_air(info, waypoints_needs);
	struct dcf_waypoint *way;
	struct radio *radio;
	unsigned long flags;
	u16 station;
	u32 count;
	bool ok;

	if (IS_ERR(air))
		return PTR_ERR(air);
	station = nla_get_u16(info->attrs[A_STATION]);
	if (station >= air->stations) {
		NL_SET_ERR_MSG(info->extack, "no such station");
		return -EINVAL;
	}
	radio = &air->radio[station];
	way = settings_grown(info, radio->way, radio->waypoints, A_WAYPOINTS, sizeof(*way), &count);
	if (IS_ERR(way))
		return PTR_ERR(way);
	control_begin(air, &flags);
	ok = dcf_set_waypoints(air->dcf, station, way, count, nla_get_u64(info->attrs[A_TIME_NS]));
	if (ok) {
		swap(radio->way, way);
		radio->waypoints = count;
	}
	control_end(air, flags);
	kvfree(way);
	if (!ok)
		NL_SET_ERR_MSG(info->extack, "times must rise; a leg goes at most 1000 m/s, for less than 2^32 us; all within 100 km of the origin on each axis");
	return ok ? 0 : -EINVAL;
}

int do_heard(struct sk_buff *request, struct genl_info *info)
{
	struct air *air = control_air(info, heard_needs);
	struct dcf_link link;
	struct nlattr *links;
	struct sk_buff *skb;
	unsigned long flags;
	u16 from, to;
	void *head;

	if (IS_ERR(air))
		return PTR_ERR(air);
	from = nla_get_u16(info->attrs[A_STATION]);
	if (from >= air->stations) {
		NL_SET_ERR_MSG(info->extack, "no such station");
		return -EINVAL;
	}
	skb = control_answer(info, nla_total_size(air->stations * sizeof(link)), &head);
	if (!skb)
		return -ENOMEM;
	links = nla_reserve(skb, A_LINKS, air->stations * sizeof(link));
	if (!links) {
		nlmsg_free(skb);
		return -EMSGSIZE;
	}
	control_begin(air, &flags);
	for (to = 0; to < air->stations; to++) {
		dcf_get_link(air->dcf, from, to, &link);
		memcpy(nla_data(links) + to * sizeof(link), &link, sizeof(link));
	}
	control_end(air, flags);
	genlmsg_end(skb, head);
	return genlmsg_reply(skb, info);
}

int do_edca(struct sk_buff *skb, struct genl_info *info)
{
	struct air *air = control_air(info, edca_needs);
	struct nlattr **a = info->attrs;
	struct dcf_edca edca;
	u32 cw_min, cw_max;
	unsigned long flags;
	u16 station;
	u8 category;
	bool ok;

	if (IS_ERR(air))
		return PTR_ERR(air);
	station = nla_get_u16(a[A_STATION]);
	category = nla_get_u8(a[A_CATEGORY]);
	cw_min = nla_get_u32(a[A_CW_MIN]);
	cw_max = nla_get_u32(a[A_CW_MAX]);
	edca = (struct dcf_edca){
		.cw_min = cw_min,
		.cw_max = cw_max,
		.txop_32us = nla_get_u16(a[A_TXOP_32US]),
		.aifsn = nla_get_u8(a[A_AIFSN]),
	};
	control_begin(air, &flags);
	ok = cw_max <= U16_MAX && cw_min <= cw_max && dcf_set_edca(air->dcf, station, category, &edca);
	if (ok)
		air->radio[station].is_fixed |= 1U << category;
	control_end(air, flags);
	if (!ok)
		NL_SET_ERR_MSG(info->extack, "there is no such station or category, AIFSN is 0, or CWmin is above CWmax or that above 65535; without EDCA, not BE, AIFSN 2 and no TXOP");
	return ok ? 0 : -EINVAL;
}

static bool traits_fit(const struct driver_traits *t)
{
	bool he = t->format == DCF_HE;

	if (t->format < DCF_OFDM || t->format > DCF_HE || (!he && t->width_mhz == 160 && t->mcs == DRIVER_AUTO))
		return false; /* minstrel_ht does not know 160 MHz */
	if (t->width_mhz != 20 && t->width_mhz != 40 && ((t->width_mhz != 80 && t->width_mhz != 160) || t->format == DCF_HT))
		return false;
	if (he ? t->guard_ns != 800 && t->guard_ns != 1600 && t->guard_ns != 3200 : t->guard_ns != 400 && t->guard_ns != 800)
		return false;
	return t->streams && t->streams <= MODE_STREAMS && t->depth && t->depth <= DRIVER_DEPTH && t->tries &&
	       t->window <= BLOCKACK_WINDOW && t->mpdus <= t->window && t->bytes && t->ppdu_ns && t->density < 8 &&
	       t->pacing_shift < 32;
}

int do_radio(struct sk_buff *skb, struct genl_info *info)
{
	struct air *air = control_air(info, radio_needs);
	struct nlattr **a = info->attrs;
	struct driver_traits traits;
	u16 i;
	int err;

	if (IS_ERR(air))
		return PTR_ERR(air);
	traits = (struct driver_traits){
		.format = nla_get_u8(a[A_FORMAT]),
		.streams = nla_get_u8(a[A_STREAMS]),
		.width_mhz = nla_get_u16(a[A_WIDTH_MHZ]),
		.guard_ns = nla_get_u16(a[A_GUARD_NS]),
		.mcs = nla_get_u8(a[A_MCS]),
		.depth = nla_get_u8(a[A_DEPTH]),
		.tries = nla_get_u8(a[A_TRIES]),
		.window = nla_get_u16(a[A_WINDOW]),
		.mpdus = nla_get_u16(a[A_MPDUS]),
		.bytes = nla_get_u32(a[A_BYTES]),
		.ppdu_ns = nla_get_u32(a[A_PPDU_NS]),
		.density = nla_get_u8(a[A_DENSITY]),
		.aql = nla_get_u8(a[A_AQL]),
		.fairness = nla_get_u8(a[A_FAIRNESS]),
		.protection = nla_get_u8(a[A_PROTECTION]),
		.fifo = nla_get_u16(a[A_FIFO]),
		.pacing_shift = nla_get_u8(a[A_PACING_SHIFT]),
	};
	for (i = 0; i < air->stations; i++)
		if (air->radio[i].named && !memcmp(air->radio[i].addr, nla_data(a[A_RADIO]), ETH_ALEN))
			break;
	if (!air->modes || i == air->stations || air->radio[i].driver || !traits_fit(&traits)) {
		NL_SET_ERR_MSG(info->extack, "the air is not for radios of HT and later, no station has this address or it has its radio, or the radio would be of no mode that is modelled");
		return -EINVAL;
	}
	err = driver_create(air, i, nla_data(a[A_NAME]), &traits, genl_info_net(info), info->snd_portid);
	if (err)
		NL_SET_ERR_MSG(info->extack, "there is no such mode, or mac80211 does not register the radio");
	return err;
}
