// SPDX-License-Identifier: GPL-2.0-only
/*
 * The EDCA parameters that mac80211 passes to each radio's driver (conf_tx): the
 * defaults of the interface's type, those an access point gives its clients,
 * those hostapd sets.
 *
 * hwsim does not forward them, so a probe on mac80211's tracepoint drv_conf_tx
 * reads them. A probe may not sleep, and air->lock sleeps under PREEMPT_RT. So
 * the parameters are stored at their radio, and the air's timer applies them at
 * once.
 */
#include <linux/etherdevice.h>
#include <linux/module.h>
#include <linux/tracepoint.h>
#include <net/mac80211.h>

#include "air.h"

#define POINT "drv_conf_tx"

/* The tracepoint's arguments are private to mac80211, but their order is that of the driver operation. */
typedef int (*conf_tx_t)(struct ieee80211_hw *hw, struct ieee80211_vif *vif, unsigned int link_id, u16 ac,
			 const struct ieee80211_tx_queue_params *params);
static_assert(__same_type(((const struct ieee80211_ops *)NULL)->conf_tx, conf_tx_t));
static_assert((int)DCF_VO == IEEE80211_AC_VO && (int)DCF_VI == IEEE80211_AC_VI && (int)DCF_BE == IEEE80211_AC_BE &&
	      (int)DCF_BK == IEEE80211_AC_BK);

static struct radio *find_radio(struct air *air, const u8 *perm)
{
	u8 addr[ETH_ALEN];
	int i;

	for (i = 0; i < air->stations; i++) {
		radio_perm_addr(addr, air->radio[i].addr);
		if (air->radio[i].named && ether_addr_equal_unaligned(addr, perm))
			return &air->radio[i];
	}
	return NULL;
}

/* struct ieee80211_local begins with the driver's part, @hw. */
static void on_conf_tx(void *data, const struct ieee80211_hw *hw, const void *sdata, unsigned int link_id, u16 ac,
		       const struct ieee80211_tx_queue_params *params)
{
	struct air *air = data;
	struct radio *radio;
	unsigned long flags;

	if (ac >= DCF_CATEGORIES)
		return;
	raw_spin_lock_irqsave(&air->edca_lock, flags);
	radio = find_radio(air, hw->wiphy->perm_addr);
	if (radio) {
		radio->new_edca[ac] = (struct dcf_edca){
			.cw_min = params->cw_min,
			.cw_max = params->cw_max,
			.txop_32us = params->txop,
			.aifsn = max_t(u8, params->aifs, 1),
		};
		radio->has_new |= 1U << ac;
		air->edca_changed = true;
	}
	raw_spin_unlock_irqrestore(&air->edca_lock, flags);
	if (radio)
		air_kick(air);
}

void conf_tx_take(struct air *air)
{
	struct dcf_edca edca;
	bool has_new;
	int i, ac;

	if (!READ_ONCE(air->edca_changed))
		return;
	WRITE_ONCE(air->edca_changed, false);
	for (i = 0; i < air->stations; i++)
		for (ac = 0; ac < DCF_CATEGORIES; ac++) {
			raw_spin_lock(&air->edca_lock);
			has_new = air->radio[i].has_new & ~air->radio[i].is_fixed & (1U << ac);
			air->radio[i].has_new &= ~(1U << ac);
			edca = air->radio[i].new_edca[ac];
			raw_spin_unlock(&air->edca_lock);
			if (has_new)
				dcf_set_edca(air->dcf, i, ac, &edca);
		}
}

static void find_point(struct tracepoint *point, void *data)
{
	struct tracepoint **found = data;

	if (!strcmp(point->name, POINT))
		*found = point;
}

static int conf_tx_attach(struct air *air, struct tracepoint *point)
{
	int err = point ? tracepoint_probe_register(point, on_conf_tx, air) : -ENOENT;

	if (!err)
		air->point_conf_tx = point;
	return err;
}

static void conf_tx_detach(struct air *air)
{
	if (air->point_conf_tx)
		tracepoint_probe_unregister(air->point_conf_tx, on_conf_tx, air);
	air->point_conf_tx = NULL;
}

/* If mac80211 is a module, this is called when its tracepoints appear and disappear. */
static int on_module(struct notifier_block *notifier, unsigned long what, void *data)
{
	struct air *air = container_of(notifier, struct air, modules);
	const struct tp_module *module = data;
	struct tracepoint *point = NULL;
	int i;

	for (i = 0; i < module->mod->num_tracepoints; i++)
		find_point(tracepoint_ptr_deref(&module->mod->tracepoints_ptrs[i]), &point);
	if (point && what == MODULE_STATE_COMING)
		conf_tx_attach(air, point);
	if (point && what == MODULE_STATE_GOING)
		conf_tx_detach(air);
	return NOTIFY_OK;
}

int conf_tx_open(struct air *air)
{
	struct tracepoint *point = NULL;

	for_each_kernel_tracepoint(find_point, &point);
	if (point)
		return conf_tx_attach(air, point);
	air->modules.notifier_call = on_module;
	register_tracepoint_module_notifier(&air->modules);
	if (air->point_conf_tx)
		return 0;
	conf_tx_close(air);
	return -ENOENT;
}

void conf_tx_close(struct air *air)
{
	if (!air->point_conf_tx && !air->modules.notifier_call)
		return;
	if (air->modules.notifier_call)
		unregister_tracepoint_module_notifier(&air->modules); /* calls on_module as if all modules went */
	air->modules.notifier_call = NULL;
	conf_tx_detach(air);
	tracepoint_synchronize_unregister();
}
