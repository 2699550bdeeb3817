/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Task switches and the reader's view; part of account.h. */
#ifndef IRQPROF_BPF_ACCOUNT_TASKS_H_
#define IRQPROF_BPF_ACCOUNT_TASKS_H_

#include "account_levels.h"

/* --- tasks ----------------------------------------------------------------- */

/* What a task got between coming to the CPU and now. */
struct account_stint {
	__u64 now_ns;
	__u64 on_cpu_ns;
	struct interrupt_totals totals;
};

ACCOUNT_INLINE void account_stint_totals(const struct cpu_account *a, struct interrupt_totals *got)
{
	int i;

	for (i = 0; i < TOTALS; i++) {
		got->ns[i] = a->totals.ns[i] - a->running.totals_base.ns[i];
		got->hits[i] = a->totals.hits[i] - a->running.totals_base.hits[i];
	}
}

/* The next stint starts where this one was read: an NMI in between is the next
 * one's, not lost. */
ACCOUNT_INLINE void account_next_base(struct cpu_account *a, const struct interrupt_totals *got)
{
	int i;

	for (i = 0; i < TOTALS; i++) {
		a->running.totals_base.ns[i] += got->ns[i];
		a->running.totals_base.hits[i] += got->hits[i];
	}
}

/* No context outlives a switch, except a softirq on PREEMPT_RT: what is still
 * open lost its exit, and if a later exit closed it, it would take time from a
 * stint that has ended. Interrupts are off and softirqs are not running: nobody
 * else writes these levels now. */
ACCOUNT_INLINE void account_drop_open(struct cpu_account *a)
{
	if (a->levels[LEVEL_HARDIRQ].start_ns) {
		account_loss(a, LOSS_exit_lost);
		a->levels[LEVEL_HARDIRQ].start_ns = 0;
	}
	if (a->levels[LEVEL_SOFTIRQ].start_ns) {
		account_loss(a, LOSS_softirq_switched);
		a->levels[LEVEL_SOFTIRQ].start_ns = 0;
	}
}

/* The running task had left unseen after `ran_ns` on the CPU: its interval ends
 * there, and the one of whoever came next begins. No interrupt was seen while
 * it ran, so the new interval keeps the old one's bases. The caller then sets
 * `running` to the other task; all inside one write. */
ACCOUNT_INLINE void account_left_unseen(struct cpu_account *a, __u64 ran_ns)
{
	struct level_account *l = &a->levels[LEVEL_TASK];

	a->hidden_switches++;
	l->start_ns += ran_ns;
	l->net_ns += ran_ns;
	if (a->running.flags & RUNNING_IDLE)
		a->idle_ns += ran_ns;
	else
		a->task_ns += ran_ns;
}

/* The running task leaves the CPU. The caller books the stint, fills `running`
 * with the next task and calls account_switch_in(), all inside one write. */
ACCOUNT_INLINE void account_switch_out(struct cpu_account *a, struct account_stint *stint)
{
	struct level_account *l = &a->levels[LEVEL_TASK];
	struct account_stamp stamp;
	__u64 net_ns;

	account_write_begin(l);
	stamp = account_stamp(a, LEVEL_TASK);
	account_drop_open(a);
	stint->now_ns = stamp.now_ns;
	stint->on_cpu_ns = account_since(a, stamp.now_ns, l->start_ns);
	net_ns = account_net(a, stint->on_cpu_ns, stamp.above_ns - l->above_ns);
	account_stint_totals(a, &stint->totals);
	account_next_base(a, &stint->totals);
	l->net_ns += net_ns;
	if (a->running.flags & RUNNING_IDLE)
		a->idle_ns += net_ns;
	else
		a->task_ns += net_ns;
	l->start_ns = stamp.now_ns;
	l->above_ns = stamp.above_ns;
	l->events++;
}

ACCOUNT_INLINE void account_switch_in(struct cpu_account *a)
{
	a->running.stint++;
	a->running.touched_count = 0;
	a->exit_batch = 0;
	a->exit_batch_open = 0;
	account_write_end(&a->levels[LEVEL_TASK]);
}

/* Adds a stint to its task's sums. */
ACCOUNT_INLINE void account_add_stint(struct task_account *task, const struct account_stint *stint)
{
	int i;

	task->on_cpu_ns += stint->on_cpu_ns;
	for (i = 0; i < TOTALS; i++) {
		task->totals.ns[i] += stint->totals.ns[i];
		task->totals.hits[i] += stint->totals.hits[i];
	}
	task->flushed_ns = stint->now_ns;
}

ACCOUNT_INLINE void account_add_line_theft(struct task_account *task,
					   const struct line_account *line, __u64 ns)
{
	int i;

	for (i = 0; i < TASK_LINES; i++) {
		struct line_theft *theft = &task->line_thefts[i];

		if (!theft->used && i < TASK_LINES - 1) {
			theft->action = line->action;
			theft->irq = line->irq;
			theft->used = 1;
		}
		if (i == TASK_LINES - 1 || (theft->action == line->action && theft->irq == line->irq)) {
			theft->used = 1;
			theft->ns += ns;
			return;
		}
	}
}

/* Adds what each source took in the stint that ends, or in a copy of the open one. */
ACCOUNT_INLINE __u64 account_stolen_by(const struct cpu_account *a, __u32 source)
{
	const struct source_time *taken = &a->sources[source];

	return taken->stint == a->running.stint ? taken->ns : 0;
}

ACCOUNT_INLINE void account_add_thefts(struct task_account *task, const struct cpu_account *a)
{
	const struct running_task *running = &a->running;
	__u32 i;

	for (i = 0; i < VECTORS; i++)
		task->vector_thefts[i] += account_stolen_by(a, i);
	for (i = 0; i < SOFTIRQS; i++)
		task->softirq_thefts[i] += account_stolen_by(a, SOURCE_SOFTIRQ + i);
	for (i = 0; i < TOUCHED_MAX && i < running->touched_count; i++) {
		__u32 slot = running->touched_lines[i] & (LINES - 1);

		account_add_line_theft(task, &a->lines[slot], account_stolen_by(a, SOURCE_LINE + slot));
	}
}

/* --- the reader ------------------------------------------------------------ */

/*
 * Brings a *copy* of a record up to `now_ns`: open intervals are counted up to
 * now, highest level first, so that (1) holds in the copy. They stay open, and
 * their own later end is not touched: the same interval read twice counts once.
 */
ACCOUNT_INLINE void account_extend(struct cpu_account *a, __u64 now_ns)
{
	struct level_account *hard = &a->levels[LEVEL_HARDIRQ];
	struct level_account *soft = &a->levels[LEVEL_SOFTIRQ];
	struct level_account *task = &a->levels[LEVEL_TASK];
	__u64 total_ns, net_ns;

	if (hard->start_ns) {
		int vector = hard->item >= LINES;
		struct bucket *bucket = vector ? &a->vectors[(hard->item - LINES) % VECTORS] :
						 &a->lines[hard->item % LINES].bucket;

		total_ns = account_since(a, now_ns, hard->start_ns);
		net_ns = account_net(a, total_ns,
				     account_above(a, LEVEL_HARDIRQ) - hard->above_ns);
		hard->net_ns += net_ns;
		bucket->self_ns += net_ns;
		bucket->total_ns += total_ns;
		a->totals.ns[vector ? TOTAL_VECTOR : TOTAL_HARDIRQ] += net_ns;
		account_theft(a,
			      vector ? (hard->item - LINES) % VECTORS :
				       SOURCE_LINE + hard->item % LINES,
			      net_ns);
	}
	if (soft->start_ns) {
		struct bucket *bucket = &a->softirqs[soft->item % SOFTIRQS][soft->place & 1];

		total_ns = account_since(a, now_ns, soft->start_ns);
		net_ns = account_net(a, total_ns,
				     account_above(a, LEVEL_SOFTIRQ) - soft->above_ns);
		soft->net_ns += net_ns;
		bucket->self_ns += net_ns;
		bucket->total_ns += total_ns;
		if (soft->place == PLACE_IRQ_EXIT) {
			a->totals.ns[TOTAL_SOFTIRQ_STOLEN] += net_ns;
			account_theft(a, SOURCE_SOFTIRQ + soft->item % SOFTIRQS, net_ns);
		} else {
			a->totals.ns[TOTAL_SOFTIRQ_OWN] += net_ns;
		}
	}
	if (task->start_ns) {
		net_ns = account_net(a, account_since(a, now_ns, task->start_ns),
				     account_above(a, LEVEL_TASK) - task->above_ns);
		task->net_ns += net_ns;
		if (a->running.flags & RUNNING_IDLE)
			a->idle_ns += net_ns;
		else
			a->task_ns += net_ns;
	}
}

#endif /* IRQPROF_BPF_ACCOUNT_TASKS_H_ */
