// SPDX-License-Identifier: GPL-2.0-only
/* Load and unload the module. It waits for netlink commands to make an air. */
#include <linux/module.h>

#include "air.h"

static int __init dcf80211_load(void)
{
	int err = driver_load();

	if (err)
		return err;
	err = control_register();
	if (err)
		driver_unload();
	return err;
}

static void __exit dcf80211_unload(void)
{
	control_unregister();
	driver_unload();
}

module_init(dcf80211_load);
module_exit(dcf80211_unload);
MODULE_DESCRIPTION("The air under mac80211_hwsim: an exact IEEE 802.11 DCF");
MODULE_LICENSE("GPL");
#ifdef SOURCE_SHA256 /* from Kbuild */
MODULE_INFO(source_sha256, SOURCE_SHA256);
#endif
