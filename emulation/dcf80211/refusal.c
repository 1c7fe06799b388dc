// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages for the core's reasons to refuse a configuration. They are literals,
 * because on some of the supported kernels netlink accepts nothing else.
 */
#include <linux/netlink.h>

#include "air.h"

void refusal_say(struct netlink_ext_ack *extack, enum dcf_refusal why)
{
	switch (why) {
	case DCF_BAD_STATIONS:
		NL_SET_ERR_MSG(extack, "between 1 and 1024 stations");
		break;
	case DCF_BAD_SLOT:
		NL_SET_ERR_MSG(extack, "a slot is between 1 us and 1 ms");
		break;
	case DCF_BAD_SIFS:
		NL_SET_ERR_MSG(extack, "a SIFS is from 4 us on, and below the 24 us of the shortest frame");
		break;
	case DCF_BAD_SENSING:
		NL_SET_ERR_MSG(extack, "sensing takes less than a slot, and less than the 24 us of the shortest frame");
		break;
	case DCF_BAD_EXTENSION:
		NL_SET_ERR_MSG(extack, "the signal extension is at most 1 ms");
		break;
	case DCF_BAD_CW:
		NL_SET_ERR_MSG(extack, "CWmin and CWmax are one less than a power of two, up to 65535, CWmin not above CWmax");
		break;
	case DCF_BAD_BASIC_RATES:
		NL_SET_ERR_MSG(extack, "the basic rate set is empty or has a rate that does not exist");
		break;
	case DCF_BAD_RULE:
		NL_SET_ERR_MSG(extack, "no such reception model, EIFS rule, or rule of ns-2");
		break;
	case DCF_BAD_EDCA:
		NL_SET_ERR_MSG(extack, "ns-2, whose rules these are, has no EDCA");
		break;
	case DCF_BAD_CARRIER_SENSE:
		NL_SET_ERR_MSG(extack, "thresholds are above 0; with capture the carrier sense threshold is not above the reception threshold");
		break;
	case DCF_BAD_CAPTURE_RATIO:
		NL_SET_ERR_MSG(extack, "the capture ratio is at least 1");
		break;
	case DCF_NO_NOISE:
		NL_SET_ERR_MSG(extack, "SINR needs noise");
		break;
	case DCF_BAD_DETECTION:
		NL_SET_ERR_MSG(extack, "a preamble is noticed that is at most 60 dB above all others");
		break;
	case DCF_BAD_SNAP:
		NL_SET_ERR_MSG(extack, "the trace keeps at least the 24 bytes of a header");
		break;
	case DCF_SOUND:
		break;
	}
}
