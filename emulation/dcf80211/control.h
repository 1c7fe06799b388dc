/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions shared by the commands. control.c has the table of all commands;
 * those in settings.c need its functions. In a circle: control.c, settings.c.
 */
#ifndef DCF80211_CONTROL_H
#define DCF80211_CONTROL_H

#include <net/genetlink.h>

#include "air.h"

/* Return the air for a command that needs these attributes (NULL: none), or an error, with a message. */
struct air *control_air(struct genl_info *info, const int *needs);
/* Before any access to the core: lock and update it. Afterwards: set its timer and unlock. */
u64 control_begin(struct air *air, unsigned long *flags)
	__acquires(&air->lock);
void control_end(struct air *air, unsigned long flags)
	__releases(&air->lock);
/* Begin an answer to a command; NULL: there is no memory. */
struct sk_buff *control_answer(struct genl_info *info, size_t room, void **head);

/* settings.c */
int do_station(struct sk_buff *skb, struct genl_info *info);
int do_links(struct sk_buff *skb, struct genl_info *info);
int do_errors(struct sk_buff *skb, struct genl_info *info);
int do_table(struct sk_buff *skb, struct genl_info *info);
int do_reach(struct sk_buff *skb, struct genl_info *info);
int do_waypoints(struct sk_buff *skb, struct genl_info *info);
int do_heard(struct sk_buff *skb, struct genl_info *info);
int do_edca(struct sk_buff *skb, struct genl_info *info);
int do_fading(struct sk_buff *skb, struct genl_info *info);
int do_radio(struct sk_buff *skb, struct genl_info *info);

#endif
