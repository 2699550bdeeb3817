/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The accounting itself: pure functions on one CPU's record, compiled into the
 * BPF programs and natively into the reader and the tests. The includer defines
 * ACCOUNT_CLOCK(a): ns now; nothing else of the outside world is used.
 *
 * Contexts nest TASK < SOFTIRQ < HARDIRQ < NMI; a level never nests in itself.
 * Each level keeps the rising net time of its own closed intervals. An interval
 * [start, end) of level L has
 *
 *     total = end - start
 *     net   = total - (net time that higher levels gained meanwhile)
 *
 * so that, whatever the order of events, on each CPU
 *
 *     sum over levels of net = elapsed time since recording began.        (1)
 *
 * Clock and higher levels' counters are read as one consistent pair: a softirq
 * program runs with interrupts on, and a hardirq between two reads would move
 * its time twice (account_stamp). An exit whose entry was not seen charges
 * nothing and is counted; when it is the first event of its level and of those
 * below, the context was already open when recording began, so its time until
 * now is taken out of the levels below, stays in no context, and shows up as
 * unattributed.
 *
 * Some hardened kernels run no BPF at all while certain tasks are current.
 * Such a task is seen to come to a CPU but not to leave it. That another one is
 * there is noticed later; the kernel's own run time of the first one then says
 * when it left, and what was seen since belongs to the other.
 */
#ifndef IRQPROF_BPF_ACCOUNT_H_
#define IRQPROF_BPF_ACCOUNT_H_

#include "records.h"

#define ACCOUNT_INLINE static inline __attribute__((always_inline))
#define ACCOUNT_ONCE(x) (*(volatile __typeof__(x) *)&(x))
#define ACCOUNT_BARRIER() __asm__ volatile("" ::: "memory")

/* A softirq that starts this soon after an interrupt handler ended was run by
 * that interrupt's exit; only used where the preempt count cannot be read
 * (measured: 0.04 % of batches wrong). */
#define ACCOUNT_EXIT_GAP_NS 6000

/* Bits of preempt_count that say "softirqs are disabled or being served", and
 * the one of them that says "being served". */
#define ACCOUNT_SOFTIRQ_MASK 0xff00u
#define ACCOUNT_SOFTIRQ_SERVING 0x100u

struct account_stamp {
	__u64 now_ns;
	__u64 above_ns;
};

struct account_interval {
	__u64 now_ns;
	__u64 total_ns;
	__u64 net_ns;
	__u32 valid;
};

ACCOUNT_INLINE void account_loss(struct cpu_account *a, enum loss_id cause)
{
	/* rare, and shared by all levels: the one place that needs an atomic */
	__sync_fetch_and_add(&a->losses[cause], 1);
}

ACCOUNT_INLINE __u64 account_above(struct cpu_account *a, enum account_level level)
{
	__u64 sum = 0;

	if (level < LEVEL_NMI)
		sum += ACCOUNT_ONCE(a->levels[LEVEL_NMI].net_ns);
	if (level < LEVEL_HARDIRQ)
		sum += ACCOUNT_ONCE(a->levels[LEVEL_HARDIRQ].net_ns);
	if (level < LEVEL_SOFTIRQ)
		sum += ACCOUNT_ONCE(a->levels[LEVEL_SOFTIRQ].net_ns);
	return sum;
}

/* The clock, and what higher levels had gained at exactly that moment. */
ACCOUNT_INLINE struct account_stamp account_stamp(struct cpu_account *a, enum account_level level)
{
	struct account_stamp stamp;
	__u64 before = account_above(a, level);
	int turn;

	for (turn = 0; turn < 4; turn++) {
		stamp.now_ns = ACCOUNT_CLOCK(a);
		stamp.above_ns = account_above(a, level);
		if (stamp.above_ns == before)
			return stamp;
		before = stamp.above_ns;
	}
	account_loss(a, LOSS_stamp_unstable);
	return stamp;
}

ACCOUNT_INLINE void account_write_begin(struct level_account *level)
{
	ACCOUNT_ONCE(level->generation) = level->generation + 1;
	ACCOUNT_BARRIER();
}

ACCOUNT_INLINE void account_write_end(struct level_account *level)
{
	ACCOUNT_BARRIER();
	ACCOUNT_ONCE(level->generation) = level->generation + 1;
}

/* Recording begins on this CPU; `running.key` and `flags` are set by the caller. */
ACCOUNT_INLINE void account_begin(struct cpu_account *a, __u64 armed_ns)
{
	/* a source never touched has stint 0, so no stint may have it */
	a->running.stint = 1;
	a->levels[LEVEL_TASK].start_ns = armed_ns;
}

/* Opens an interval of `level`. The caller sets `item` between this and
 * account_write_end(). */
ACCOUNT_INLINE struct account_stamp account_open(struct cpu_account *a, enum account_level level)
{
	struct level_account *l = &a->levels[level];
	struct account_stamp stamp;

	account_write_begin(l);
	stamp = account_stamp(a, level);
	if (l->start_ns)
		account_loss(a, LOSS_exit_lost);
	l->start_ns = stamp.now_ns;
	l->above_ns = stamp.above_ns;
	l->events++;
	return stamp;
}

/* The clock can step back a little (it is slewed); that is no time, not a huge one. */
ACCOUNT_INLINE __u64 account_since(struct cpu_account *a, __u64 now_ns, __u64 start_ns)
{
	if (now_ns < start_ns) {
		account_loss(a, LOSS_clock_backwards);
		return 0;
	}
	return now_ns - start_ns;
}

ACCOUNT_INLINE __u64 account_net(struct cpu_account *a, __u64 total_ns, __u64 nested_ns)
{
	if (nested_ns > total_ns) {
		account_loss(a, LOSS_clock_backwards);
		return 0;
	}
	return total_ns - nested_ns;
}

/* Closes the open interval of `level` if it is `item`'s; not valid otherwise.
 * Begins the write; the caller ends it. */
ACCOUNT_INLINE struct account_interval account_close(struct cpu_account *a,
						     enum account_level level, __u32 item)
{
	struct level_account *l = &a->levels[level];
	struct account_interval interval = {};
	struct account_stamp stamp;
	__u64 start_ns = l->start_ns, above_ns = l->above_ns;

	account_write_begin(l);
	if (start_ns && l->item == item) {
		interval.valid = 1;
	} else if (!l->events && !a->levels[LEVEL_TASK].events &&
		   (level == LEVEL_SOFTIRQ || !a->levels[LEVEL_SOFTIRQ].events)) {
		a->edge_exits++;
		start_ns = a->levels[LEVEL_TASK].start_ns;
		above_ns = 0;
	} else {
		account_loss(a, LOSS_exit_unmatched);
		return interval;
	}
	l->events++;
	stamp = account_stamp(a, level);
	interval.now_ns = stamp.now_ns;
	interval.total_ns = account_since(a, stamp.now_ns, start_ns);
	interval.net_ns = account_net(a, interval.total_ns, stamp.above_ns - above_ns);
	l->net_ns += interval.net_ns;
	/* only now: an interrupt until the stamp still landed in this context */
	l->start_ns = 0;
	return interval;
}

ACCOUNT_INLINE __u32 account_hist_slot(__u64 ns)
{
	__u32 slot = 0;

	if (ns >> HIST_SLOTS)
		return HIST_SLOTS - 1;
	if (ns >> 16) {
		ns >>= 16;
		slot += 16;
	}
	if (ns >> 8) {
		ns >>= 8;
		slot += 8;
	}
	if (ns >> 4) {
		ns >>= 4;
		slot += 4;
	}
	if (ns >> 2) {
		ns >>= 2;
		slot += 2;
	}
	return slot + (ns >> 1 ? 1 : 0);
}

ACCOUNT_INLINE void account_fill(struct bucket *bucket, const struct account_interval *interval)
{
	bucket->count++;
	bucket->self_ns += interval->net_ns;
	bucket->total_ns += interval->total_ns;
	if (interval->total_ns > bucket->max_ns)
		bucket->max_ns = interval->total_ns;
	bucket->hist[account_hist_slot(interval->total_ns) & (HIST_SLOTS - 1)]++;
}

/* Remembers, without a hash, what a source took from the running task. Lines
 * are many, so those that did are listed. */
ACCOUNT_INLINE void account_theft(struct cpu_account *a, __u32 source, __u64 net_ns)
{
	struct running_task *running = &a->running;
	struct source_time *taken = &a->sources[source];
	__u32 listed = running->touched_count;

	if (taken->stint == running->stint) {
		taken->ns += net_ns;
		return;
	}
	taken->stint = running->stint;
	taken->ns = net_ns;
	if (source < SOURCE_LINE)
		return;
	if (listed >= TOUCHED_MAX) {
		account_loss(a, LOSS_sources_full);
		return;
	}
	running->touched_lines[listed & (TOUCHED_MAX - 1)] = source - SOURCE_LINE;
	running->touched_count = listed + 1;
}

/* The end of one interrupt: bucket, totals, theft. */
ACCOUNT_INLINE void account_book(struct cpu_account *a, enum account_level level,
				 struct bucket *bucket, enum interrupt_total total, __u32 source,
				 const struct account_interval *interval)
{
	account_fill(bucket, interval);
	a->totals.ns[total] += interval->net_ns;
	if (level == LEVEL_SOFTIRQ || !a->levels[LEVEL_SOFTIRQ].start_ns)
		a->totals.hits[total]++;
	if (total != TOTAL_SOFTIRQ_OWN)
		account_theft(a, source, interval->net_ns);
}

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

#endif /* IRQPROF_BPF_ACCOUNT_H_ */
