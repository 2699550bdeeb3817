/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The levels of account.h: stamps, intervals, and what an ended one is booked on. */
#ifndef IRQPROF_BPF_ACCOUNT_LEVELS_H_
#define IRQPROF_BPF_ACCOUNT_LEVELS_H_

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

#endif /* IRQPROF_BPF_ACCOUNT_LEVELS_H_ */
