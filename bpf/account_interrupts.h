/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What each kind of interrupt does to a record; part of account.h. */
#ifndef IRQPROF_BPF_ACCOUNT_INTERRUPTS_H_
#define IRQPROF_BPF_ACCOUNT_INTERRUPTS_H_

#include "account_levels.h"

/* --- device lines and vectors ------------------------------------------- */

ACCOUNT_INLINE void account_vector_entry(struct cpu_account *a, __u32 vector)
{
	account_open(a, LEVEL_HARDIRQ);
	a->levels[LEVEL_HARDIRQ].item = LINES + vector;
	account_write_end(&a->levels[LEVEL_HARDIRQ]);
}

ACCOUNT_INLINE void account_vector_exit(struct cpu_account *a, __u32 vector)
{
	struct account_interval interval = account_close(a, LEVEL_HARDIRQ, LINES + vector);

	if (interval.valid)
		account_book(a, LEVEL_HARDIRQ, &a->vectors[vector], TOTAL_VECTOR, vector, &interval);
	if (interval.now_ns)
		a->exit_ns = interval.now_ns;
	account_write_end(&a->levels[LEVEL_HARDIRQ]);
}

/* The slot of a line, taking a free one at first sight; `fresh` then says that
 * the caller has to fill in the name. */
ACCOUNT_INLINE __u32 account_line_slot(struct cpu_account *a, __u32 irq, __u64 action, int *fresh)
{
	__u32 probe, home = irq + (__u32)(action >> 6);

	*fresh = 0;
	for (probe = 0; probe < 8; probe++) {
		__u32 slot = (home + probe) & (LINES - 1);
		struct line_account *line = &a->lines[slot];

		if (slot == LINES - 1)
			continue;
		if (!line->used) {
			line->irq = irq;
			line->action = action;
			line->used = 1;
			*fresh = 1;
			return slot;
		}
		if (line->action == action && line->irq == irq)
			return slot;
	}
	account_loss(a, LOSS_lines_full);
	a->lines[LINES - 1].used = 1;
	return LINES - 1;
}

/* Returns the slot; see account_line_slot() for `fresh`. */
ACCOUNT_INLINE __u32 account_line_entry(struct cpu_account *a, __u32 irq, __u64 action, int *fresh)
{
	__u32 slot;

	account_open(a, LEVEL_HARDIRQ);
	slot = account_line_slot(a, irq, action, fresh);
	a->levels[LEVEL_HARDIRQ].item = slot;
	account_write_end(&a->levels[LEVEL_HARDIRQ]);
	return slot;
}

ACCOUNT_INLINE void account_line_exit(struct cpu_account *a, __u32 irq, __u64 action, int handled)
{
	__u32 slot = a->levels[LEVEL_HARDIRQ].item & (LINES - 1);
	struct line_account *line = &a->lines[slot];
	int same = slot == LINES - 1 || (line->irq == irq && line->action == action);
	/* an item no entry ever sets: the exit of another line is unmatched */
	struct account_interval interval = account_close(a, LEVEL_HARDIRQ, same ? slot : ~0u);

	if (interval.valid) {
		line->handled_count += handled;
		account_book(a, LEVEL_HARDIRQ, &line->bucket, TOTAL_HARDIRQ, SOURCE_LINE + slot,
			     &interval);
	}
	if (interval.now_ns)
		a->exit_ns = interval.now_ns;
	account_write_end(&a->levels[LEVEL_HARDIRQ]);
}

/* --- softirqs: where they run ------------------------------------------- */

/*
 * An interrupt handler ended while `pending` softirqs were raised. With the
 * preempt count at hand it is certain what follows: outside a softirq-disabled
 * region the interrupt's exit runs them; inside a batch that an interrupt exit
 * began, the batch's next turn does. Softirqs that are merely disabled run when
 * the task enables them, which is its own work.
 */
ACCOUNT_INLINE void account_irq_exit_counted(struct cpu_account *a, __u32 preempt_count,
					     __u32 pending)
{
	if (!(preempt_count & ACCOUNT_SOFTIRQ_MASK)) {
		a->exit_batch = pending;
		a->exit_batch_open = 0;
	} else if ((preempt_count & ACCOUNT_SOFTIRQ_SERVING) && a->exit_batch_open) {
		a->exit_batch |= pending;
	}
}

/* The same without the preempt count: only a following softirq_entry within
 * ACCOUNT_EXIT_GAP_NS confirms it. */
ACCOUNT_INLINE void account_irq_exit_guessed(struct cpu_account *a)
{
	if (!a->levels[LEVEL_SOFTIRQ].start_ns) {
		a->exit_batch = ACCOUNT_ONCE(a->raised);
		a->exit_batch_open = 0;
	} else if (a->exit_batch_open) {
		a->exit_batch |= ACCOUNT_ONCE(a->raised);
	}
}

ACCOUNT_INLINE enum softirq_place account_softirq_place(struct cpu_account *a, __u32 vec,
							__u64 now_ns, int counted)
{
	__u32 bit = 1u << vec;

	int late = !counted && !a->exit_batch_open && now_ns - a->exit_ns > ACCOUNT_EXIT_GAP_NS;

	if (late || !(a->exit_batch & bit) || (a->running.flags & RUNNING_KSOFTIRQD)) {
		a->exit_batch = 0;
		a->exit_batch_open = 0;
		return PLACE_TASK;
	}
	a->exit_batch &= ~bit;
	a->exit_batch_open = 1;
	return PLACE_IRQ_EXIT;
}

/* `counted`: the preempt count is known at every interrupt's end. */
ACCOUNT_INLINE void account_softirq_entry(struct cpu_account *a, __u32 vec, int counted)
{
	struct level_account *l = &a->levels[LEVEL_SOFTIRQ];
	struct account_stamp stamp = account_open(a, LEVEL_SOFTIRQ);

	l->item = vec;
	l->place = account_softirq_place(a, vec, stamp.now_ns, counted);
	if (vec == SOFTIRQ_NET_RX) {
		a->napi_start_ns = stamp.now_ns;
		a->napi_above_ns = stamp.above_ns;
	}
	account_write_end(l);
}

/* `pending`: softirqs raised and not yet taken up, read just before. */
ACCOUNT_INLINE void account_softirq_exit(struct cpu_account *a, __u32 vec, __u32 pending)
{
	__u32 place = a->levels[LEVEL_SOFTIRQ].place & 1;
	struct account_interval interval = account_close(a, LEVEL_SOFTIRQ, vec);

	if (interval.valid)
		account_book(a, LEVEL_SOFTIRQ, &a->softirqs[vec][place],
			     place == PLACE_IRQ_EXIT ? TOTAL_SOFTIRQ_STOLEN : TOTAL_SOFTIRQ_OWN,
			     SOURCE_SOFTIRQ + vec, &interval);
	a->napi_start_ns = 0;
	/* what was raised meanwhile is the next turn of the same batch */
	if (a->exit_batch_open)
		a->exit_batch |= pending;
	account_write_end(&a->levels[LEVEL_SOFTIRQ]);
}

/* --- NAPI: a refinement of NET_RX ---------------------------------------- */

ACCOUNT_INLINE __u32 account_napi_slot(struct cpu_account *a, __u64 napi, int *fresh)
{
	__u32 probe, home = (__u32)(napi >> 6);

	*fresh = 0;
	for (probe = 0; probe < 8; probe++) {
		__u32 slot = (home + probe) & (NAPIS - 1);
		struct napi_account *account = &a->napis[slot];

		if (slot == NAPIS - 1)
			continue;
		if (!account->used) {
			account->napi = napi;
			account->used = 1;
			*fresh = 1;
			return slot;
		}
		if (account->napi == napi)
			return slot;
	}
	account_loss(a, LOSS_napis_full);
	a->napis[NAPIS - 1].used = 1;
	return NAPIS - 1;
}

/* A poll ended. Inside NET_RX it owns the time since the softirq's entry or the
 * poll before; elsewhere only its counts are known. */
ACCOUNT_INLINE __u32 account_napi_poll(struct cpu_account *a, __u64 napi, __u32 work, __u32 budget,
				       int *fresh)
{
	struct level_account *l = &a->levels[LEVEL_SOFTIRQ];
	int in_softirq = l->start_ns && l->item == SOFTIRQ_NET_RX;
	__u32 slot, place = in_softirq				  ? NAPI_IN_SOFTIRQ :
			    a->running.flags & RUNNING_KTHREAD ? NAPI_IN_THREAD :
								 NAPI_IN_BUSY_POLL;
	struct account_stamp stamp;
	struct napi_work *done;

	account_write_begin(l);
	stamp = account_stamp(a, LEVEL_SOFTIRQ);
	slot = account_napi_slot(a, napi, fresh);
	done = &a->napis[slot].work[place];
	done->polls++;
	done->packets += work;
	if (budget && work >= budget)
		done->budget_exhausted++;
	if (in_softirq && a->napi_start_ns) {
		done->self_ns += account_net(a, account_since(a, stamp.now_ns, a->napi_start_ns),
					     stamp.above_ns - a->napi_above_ns);
		a->napi_start_ns = stamp.now_ns;
		a->napi_above_ns = stamp.above_ns;
	}
	account_write_end(l);
	return slot;
}

/* --- NMIs: known only afterwards, with their duration --------------------- */

ACCOUNT_INLINE void account_nmi(struct cpu_account *a, __u64 delta_ns)
{
	struct level_account *l = &a->levels[LEVEL_NMI];

	account_write_begin(l);
	l->net_ns += delta_ns;
	l->events++;
	a->totals.ns[TOTAL_NMI] += delta_ns;
	a->totals.hits[TOTAL_NMI]++;
	account_write_end(l);
}

#endif /* IRQPROF_BPF_ACCOUNT_INTERRUPTS_H_ */
