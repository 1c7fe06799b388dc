/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the commands share. control.c has the table of them all, and those of
 * settings.c need what it does around each. In a circle: control.c, settings.c.
 */
#ifndef DCF80211_CONTROL_H
#define DCF80211_CONTROL_H

#include <net/genetlink.h>

#include "air.h"

/* The air that a command with these attributes (NULL: any) is about; an error, with its sentence, if it cannot be. */
struct air *control_air(struct genl_info *info, const int *needs);
/* Around every look at the core: bring it up to date before, arm its timer after. */
u64 control_begin(struct air *air, unsigned long *flags)
	__acquires(&air->lock);
void control_end(struct air *air, unsigned long flags)
	__releases(&air->lock);
/* An answer to a command, begun; NULL: there is no memory. */
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

#endif
