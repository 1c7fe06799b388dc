// SPDX-License-Identifier: GPL-2.0-only
/*
 * The air: one core, one lock, one hrtimer.
 *
 * The timer is set for the time at which the core next has an event for the
 * kernel (dcf_next()), or for now if hwsim has kicked a queue. Nothing else ever
 * runs. Under PREEMPT_RT, where a lock sleeps, the timer is a soft one.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "air.h"
#include "compat.h"

/* When to try again after an allocation has failed. */
#define STARVED_NS (1000 * US)
/* The least delay of a host (docs/hosts.md). */
#define HOST_LEAST_NS 1500

static const struct dcf_ops *air_ops(bool ht)
{
#ifdef DCF80211_HT
	if (ht)
		return &mpdu_dcf_ops;
#endif
	return &hwsim_dcf_ops;
}

u64 air_host_delay(struct air *air, u16 station)
{
	return HOST_LEAST_NS + dcf_draw_exponential(&air->radio[station].random, air->host_delay_ns);
}

void air_arm(struct air *air)
{
	u64 next = min(dcf_next(air->dcf), hwsim_next(air));

	if (!air->running)
		return;
	if (air->starved)
		next = min(next, air_now() + STARVED_NS);
	air->armed = next;
	if (next != DCF_NEVER)
		hrtimer_start(&air->timer, ns_to_ktime(next), HRTIMER_MODE_ABS);
	/* A kick meanwhile has set the timer for now; this must not be lost. */
	if (READ_ONCE(air->kicked))
		hrtimer_start(&air->timer, ktime_get(), HRTIMER_MODE_ABS);
}

/* Called by hwsim's notify, with hwsim's lock held and interrupts off. */
void air_kick(struct air *air)
{
	if (!READ_ONCE(air->kicked))
		WRITE_ONCE(air->kicked_ns, air_now());
	WRITE_ONCE(air->kicked, 1);
	hrtimer_start(&air->timer, ktime_get(), HRTIMER_MODE_ABS);
}

static void delays_add(struct delays *delays, u64 ns)
{
	int octave = fls64(ns | 1) - 1;
	int bin = octave < 2 ? ns : 4 * (octave - 1) + (ns >> (octave - 2) & 3);

	delays->count[min(bin, DELAY_BINS - 1)]++;
	delays->max_ns = max(delays->max_ns, ns);
}

static enum hrtimer_restart air_timer(struct hrtimer *timer)
{
	struct air *air = container_of(timer, struct air, timer);
	unsigned long flags;
	bool measuring;
	u64 now;

	spin_lock_irqsave(&air->lock, flags);
	if (air->running) {
		now = air_now();
		air->timers++;
		measuring = dcf_measuring(air->dcf);
		if (measuring && now >= air->armed)
			delays_add(&air->late, now - air->armed);
		if (xchg(&air->kicked, 0) && measuring)
			delays_add(&air->lag, now - min(now, READ_ONCE(air->kicked_ns)));
		conf_tx_take(air);
		air->hushed = false;
		air->in_timer = true;
		dcf_run(air->dcf, now);
		air->in_timer = false;
		overhear_go(air);
		hwsim_arrive(air, now);
		hwsim_give(air);
		hwsim_take(air, now);
		vdev_interrupt(air);
		air_arm(air);
	}
	spin_unlock_irqrestore(&air->lock, flags);
	return HRTIMER_NORESTART;
}

/* The same for an air of the driver's, which takes frames by itself. */
static enum hrtimer_restart air_timer_ht(struct hrtimer *timer)
{
	struct air *air = container_of(timer, struct air, timer);
	unsigned long flags;
	u64 now;

	spin_lock_irqsave(&air->lock, flags);
	if (air->running) {
		now = air_now();
		air->timers++;
		if (dcf_measuring(air->dcf) && now >= air->armed)
			delays_add(&air->late, now - air->armed);
		WRITE_ONCE(air->kicked, 0);
		conf_tx_take(air);
		dcf_run(air->dcf, now);
		air_arm(air);
	}
	spin_unlock_irqrestore(&air->lock, flags);
	return HRTIMER_NORESTART;
}

struct air *air_create(const struct dcf_config *config, bool ht)
{
	struct air *air = kzalloc(sizeof(*air), GFP_KERNEL);
	int i, err = -ENOMEM;

	if (!air)
		return ERR_PTR(-ENOMEM);
	spin_lock_init(&air->lock);
	raw_spin_lock_init(&air->edca_lock);
	INIT_LIST_HEAD(&air->backlog);
	INIT_LIST_HEAD(&air->arriving);
	hrtimer_setup(&air->timer, ht ? air_timer_ht : air_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
	air->armed = DCF_NEVER;
	air->stations = config->stations;
	air->radio = kcalloc(config->stations, sizeof(*air->radio), GFP_KERNEL);
	air->dcf = vzalloc(dcf_size(config->stations));
	if (!air->radio || !air->dcf)
		goto out;
	dcf_init(air->dcf, config, air_ops(ht), air);
	for (i = 0; i < air->stations; i++)
		air->radio[i].random = ~config->seed ^ (i + 1ULL) << 32;
	if (config->trace) {
		err = trace_open(air);
		if (err)
			goto out;
	}
	err = config->edca ? conf_tx_open(air) : 0;
	if (!err && !ht)
		err = overhear_open(air);
	if (!err)
		err = ht ? driver_open(air) : vdev_register(air);
	if (!err)
		return air;
	overhear_close(air);
	conf_tx_close(air);
	hrtimer_cancel(&air->timer);
	trace_close(air);
out:
	vfree(air->dcf);
	kfree(air->radio);
	kfree(air);
	return ERR_PTR(err);
}

void air_destroy(struct air *air)
{
	int i;

	conf_tx_close(air);
	if (air->modes)
		driver_close(air);
	else
		vdev_unregister(air); /* the last use of rings and timer */
	overhear_close(air);
	trace_close(air);
	vfree(air->dcf);
	for (i = 0; i < air->stations; i++)
		kvfree(air->radio[i].way);
	kvfree(air->point);
	kfree(air->radio);
	kfree(air);
}
