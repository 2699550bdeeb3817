/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Every fact that crosses from the kernel side to user space, defined once:
 * included by BPF C, by C++ and by the tests.
 *
 * One `struct cpu_account` per possible CPU lives in an mmapable array. Its
 * parts are written only on that CPU, each level by programs of that level:
 *
 *   level     runs with                 writes
 *   NMI       everything off            levels[NMI], totals of nmi
 *   HARDIRQ   interrupts off            levels[HARDIRQ], vectors, lines
 *   SOFTIRQ   interrupts on             levels[SOFTIRQ], softirqs, napis
 *   TASK      interrupts off (switch)   levels[TASK], running, idle/task time
 *
 * so no field has two writers that can interrupt each other. A reader copies
 * the record and accepts the copy when every level's `generation` is even and
 * unchanged. All counters only rise; times are ns of CLOCK_MONOTONIC.
 */
#ifndef IRQPROF_BPF_RECORDS_H_
#define IRQPROF_BPF_RECORDS_H_

#ifndef __bpf__
#include <linux/types.h>
#endif

/*
 * System vectors with a pair of tracepoints NAME_entry / NAME_exit
 * (include/asm/trace/irq_vectors.h). A kernel may lack some: the loader leaves
 * those out and says so.
 */
#define IRQPROF_VECTORS(X)                                                      \
	X(local_timer) X(reschedule) X(call_function) X(call_function_single)   \
	X(irq_work) X(x86_platform_ipi) X(error_apic) X(spurious_apic)          \
	X(thermal_apic) X(threshold_apic) X(deferred_error_apic)

enum vector_id {
#define X(name) VECTOR_##name,
	IRQPROF_VECTORS(X)
#undef X
	VECTORS
};

/* include/linux/interrupt.h; the order is ABI of the softirq tracepoints */
#define IRQPROF_SOFTIRQS(X)                                                     \
	X(HI) X(TIMER) X(NET_TX) X(NET_RX) X(BLOCK) X(IRQ_POLL) X(TASKLET)      \
	X(SCHED) X(HRTIMER) X(RCU)

enum softirq_id {
#define X(name) SOFTIRQ_##name,
	IRQPROF_SOFTIRQS(X)
#undef X
	SOFTIRQS
};

/* Where a softirq ran: on top of whatever an interrupt hit, or as work of the
 * running task itself (local_bh_enable, ksoftirqd and other threads). */
enum softirq_place { PLACE_IRQ_EXIT, PLACE_TASK, SOFTIRQ_PLACES };

enum napi_place { NAPI_IN_SOFTIRQ, NAPI_IN_THREAD, NAPI_IN_BUSY_POLL, NAPI_PLACES };

enum account_level { LEVEL_TASK, LEVEL_SOFTIRQ, LEVEL_HARDIRQ, LEVEL_NMI, LEVELS };

/* What a task can be interrupted by, or do on behalf of interrupts. */
enum interrupt_total {
	TOTAL_HARDIRQ,
	TOTAL_VECTOR,
	TOTAL_SOFTIRQ_STOLEN, /* PLACE_IRQ_EXIT */
	TOTAL_SOFTIRQ_OWN,    /* PLACE_TASK */
	TOTAL_NMI,
	TOTALS
};

/* Each cause of lost exactness has a counter; any non-zero one taints. */
#define IRQPROF_LOSSES(X)                                                       \
	X(exit_unmatched)   /* an exit whose entry was not seen */              \
	X(exit_lost)        /* an entry while its level was still open */       \
	X(clock_backwards)  /* nested time longer than the time around it */    \
	X(stamp_unstable)   /* no quiet moment to read clock and counters */    \
	X(softirq_switched) /* a softirq was scheduled out (PREEMPT_RT) */      \
	X(lines_full) X(napis_full) X(tasks_full) X(sources_full)

enum loss_id {
#define X(name) LOSS_##name,
	IRQPROF_LOSSES(X)
#undef X
	LOSSES
};

/* The kernel's own per-CPU columns (kernel_stat.h), as far as they are used. */
enum kernel_column { COLUMN_USER, COLUMN_NICE, COLUMN_SYSTEM, COLUMN_SOFTIRQ, COLUMN_IRQ, COLUMNS };

enum {
	HIST_SLOTS = 32,    /* slot i counts totals in [2^i, 2^(i+1)) ns */
	LINES = 64,         /* per CPU; a power of two; the last one is "the rest" */
	NAPIS = 32,         /* likewise */
	NAME_LENGTH = 32,
	COMM_LENGTH = 16,
	TASKS_MAX = 16384,
	TASK_LINES = 8,     /* lines told apart per task; the last one is "the rest" */
	/* Sources of stolen time, numbered per CPU: vectors, softirqs, lines. */
	SOURCE_SOFTIRQ = 16,
	SOURCE_LINE = 32,
	SOURCES = SOURCE_LINE + LINES,
	/* Different lines that can hit one task while it stays on a CPU. */
	TOUCHED_MAX = 32,
};

/* One kind of work. self: nested contexts taken out; total: not. */
struct bucket {
	__u64 count;
	__u64 self_ns;
	__u64 total_ns;
	__u64 max_ns; /* longest total */
	__u64 hist[HIST_SLOTS];
};

/* A device line is (irq number, action): shared lines have several. */
struct line_account {
	__u64 action;        /* kernel address: identity only */
	__u32 irq;
	__u32 used;
	__u64 handled_count; /* calls that said "mine"; the rest said "not mine" */
	char name[NAME_LENGTH];
	struct bucket bucket;
};

struct napi_work {
	__u64 polls;
	__u64 packets;
	__u64 budget_exhausted;
	__u64 self_ns; /* 0 outside softirqs: no begin hook there */
};

struct napi_account {
	__u64 napi; /* kernel address: identity only */
	__u32 ifindex;
	__u32 used;
	char netdev[COMM_LENGTH];
	struct napi_work work[NAPI_PLACES];
};

struct level_account {
	__u64 generation; /* odd while this level's writer is inside */
	__u64 start_ns;   /* the open interval; 0: closed */
	__u64 above_ns;   /* net time of all higher levels at start_ns */
	__u64 net_ns;     /* net time of all closed intervals */
	__u32 item;       /* what is open: see the level's programs */
	__u32 place;      /* softirq only: enum softirq_place */
	__u64 events;     /* entries and exits seen */
};

struct interrupt_totals {
	__u64 ns[TOTALS]; /* self */
	/* those that landed in no softirq: what such an interrupt costs outside
	 * every hook is the task's loss, a nested one's is inside the softirq */
	__u64 hits[TOTALS];
};

enum running_flag {
	RUNNING_IDLE = 1,      /* the CPU's idle task */
	RUNNING_KTHREAD = 2,
	RUNNING_KSOFTIRQD = 4, /* softirqs are its own work */
};

/* What the kernel charged a task so far; raw, before cputime_adjust(). */
struct kernel_charge {
	__u64 utime_ns;
	__u64 stime_ns;
	__u64 runtime_ns;
};

struct task_key {
	__u64 start_time; /* makes a reused pid another task */
	__u32 pid;
	__u32 zero;
};

/* The task on the CPU, and everything as it was when it got there. */
struct running_task {
	struct task_key key;
	__u64 address; /* of its task_struct: to ask later how long it ran */
	__u32 flags;
	__u32 touched_count;
	__u64 stint;        /* rises with every switch */
	struct interrupt_totals totals_base;
	struct kernel_charge charge_base;
	__u64 columns_base[COLUMNS];
	__u32 touched_lines[TOUCHED_MAX]; /* slots of the lines that took time from it */
};

struct source_time {
	__u64 stint; /* ns belongs to this stint only */
	__u64 ns;
};

struct cpu_account {
	struct level_account levels[LEVELS];
	__u64 idle_ns;
	__u64 task_ns;
	struct interrupt_totals totals;
	__u64 losses[LOSSES];
	__u64 edge_exits;      /* contexts that were open when recording began */
	__u64 hidden_switches; /* the running task had left unseen */
	__u64 exit_ns;         /* when the last interrupt handler ended */
	__u64 napi_start_ns;   /* the open NAPI segment of a NET_RX softirq */
	__u64 napi_above_ns;
	__u32 raised;          /* softirqs raised and not yet entered */
	__u32 exit_batch;      /* softirqs the interrupt exit in progress will run */
	__u32 exit_batch_open; /* that batch has begun */
	__u32 zero;
	struct running_task running;
	struct source_time sources[SOURCES];
	struct bucket vectors[VECTORS];
	struct bucket softirqs[SOFTIRQS][SOFTIRQ_PLACES];
	struct line_account lines[LINES];
	struct napi_account napis[NAPIS];
};

/* What a device line took from one task. */
struct line_theft {
	__u64 action;
	__u32 irq;
	__u32 used;
	__u64 ns;
};

/* One task's sums over all its closed stints on any CPU. */
struct task_account {
	__u64 writes_ended; /* == writes_begun: not being written */
	__u64 on_cpu_ns;
	struct interrupt_totals totals;
	__u64 switches;
	__u64 flushed_ns; /* end of the last stint counted here */
	__u64 cgroup_id;
	__u32 tgid;
	__u32 flags;
	char comm[COMM_LENGTH];
	struct kernel_charge charge_first; /* when it was first seen on a CPU */
	struct kernel_charge charge_last;
	__u64 columns[COLUMNS];
	/* by whom its time was stolen; sums to the totals of the same kind */
	__u64 vector_thefts[VECTORS];
	__u64 softirq_thefts[SOFTIRQS];
	struct line_theft line_thefts[TASK_LINES];
	__u64 writes_begun;
};

#endif /* IRQPROF_BPF_RECORDS_H_ */
