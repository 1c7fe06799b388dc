// SPDX-License-Identifier: GPL-2.0-only
/*
 * Timers: a sorted list through the objects that they belong to. Few timers are
 * set at a time, and most are later than the others, so the search starts at the
 * end.
 */
#include "node.h"

void timer_cancel(struct manet *m, struct manet_timer *t)
{
	if (!t->set)
		return;
	t->set = false;
	if (t->previous)
		t->previous->next = t->next;
	else
		m->timers = t->next;
	if (t->next)
		t->next->previous = t->previous;
	else
		m->last_timer = t->previous;
}

void timer_set(struct manet *m, struct manet_timer *t, u16 kind, u64 at)
{
	struct manet_timer *before;

	timer_cancel(m, t);
	for (before = m->last_timer; before && before->at > at; before = before->previous)
		;
	t->at = at;
	t->kind = kind;
	t->set = true;
	t->previous = before;
	t->next = before ? before->next : m->timers;
	if (before)
		before->next = t;
	else
		m->timers = t;
	if (t->next)
		t->next->previous = t;
	else
		m->last_timer = t;
}
