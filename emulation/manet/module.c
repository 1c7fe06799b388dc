// SPDX-License-Identifier: GPL-2.0-only
/* Load and unload the module. */
#include <linux/module.h>
#include <net/rtnetlink.h>

#include "device.h"

static int __init manet_load(void)
{
	int err = trace_open();

	if (err)
		return err;
	err = control_register();
	if (err)
		goto close;
	err = devices_register();
	if (!err)
		return 0;
	control_unregister();
close:
	trace_close();
	return err;
}

static void __exit manet_unload(void)
{
	devices_unregister();
	control_unregister();
	radio_wait();
	trace_close();
}

module_init(manet_load);
module_exit(manet_unload);
MODULE_DESCRIPTION("Ad hoc routing over a radio: AODV, DSR, OLSR, DSDV, with what the link layer says of each frame");
MODULE_LICENSE("GPL");
#ifdef SOURCE_SHA256 /* from Kbuild */
MODULE_INFO(source_sha256, SOURCE_SHA256);
#endif
MODULE_ALIAS_RTNL_LINK(MANET_NAME);
