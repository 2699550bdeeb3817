/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The exact ledger: one short program per hook, all of the accounting in
 * account.h. Only tp_btf programs: they are guarded per program, where others
 * share one per-CPU guard and would drop events that interrupt each other.
 *
 * Built twice: with IRQPROF_PERCPU_SYMBOLS the preempt count and the kernel's
 * own columns are read (exact softirq origin, the kernel's charge per stint);
 * without, a shadow of softirq_raise and a time gap take their place.
 */
#include "kernel.bpf.h"

#define ACCOUNT_CLOCK(a) bpf_ktime_get_ns()
#include "account.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

#ifdef IRQPROF_PERCPU_SYMBOLS
#define COUNTED 1
#else
#define COUNTED 0
#endif

/* 0 until user space has attached everything: then the time recording began. */
volatile __u64 armed_ns;

/* max_entries of the first is set to the number of possible CPUs */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cpu_account);
} cpu_accounts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TASKS_MAX);
	__type(key, struct task_key);
	__type(value, struct task_account);
} task_accounts SEC(".maps");

static const struct task_account empty_task;

static __always_inline __u64 comm_start(const struct task_struct *task)
{
	__u64 eight = 0;

	bpf_probe_read_kernel(&eight, sizeof(eight), task->comm);
	return eight;
}

static __always_inline void columns_now(__u64 columns[COLUMNS])
{
#ifdef IRQPROF_PERCPU_SYMBOLS
	const struct kernel_cpustat *stat;
	int i;

	if (!&kernel_cpustat)
		return;
	stat = bpf_this_cpu_ptr(&kernel_cpustat);
	/* enum kernel_column begins as enum cpu_usage_stat does */
	for (i = 0; i < COLUMNS; i++)
		columns[i] = stat->cpustat[i];
#endif
}

static __always_inline void set_running(struct cpu_account *a, const struct task_struct *task)
{
	struct running_task *running = &a->running;

	running->address = (__u64)task;
	running->key.pid = task->pid;
	running->key.start_time = task->start_time;
	running->flags = 0;
	if (!task->pid)
		running->flags = RUNNING_IDLE;
	else if (task->flags & PF_KTHREAD) {
		running->flags = RUNNING_KTHREAD;
		/* "ksoftirq": a kernel thread's name can be trusted, a process's not */
		if (comm_start(task) == 0x71726974666f736bULL)
			running->flags |= RUNNING_KSOFTIRQD;
	}
	running->charge_base.utime_ns = task->utime;
	running->charge_base.stime_ns = task->stime;
	running->charge_base.runtime_ns = task->se.sum_exec_runtime;
	columns_now(running->columns_base);
}

/* A CPU's first event: no program but this path needs its code inline. */
static __attribute__((noinline)) int begin_recording(struct cpu_account *a, __u64 began_ns)
{
	set_running(a, (struct task_struct *)bpf_get_current_task_btf());
	account_begin(a, began_ns);
	return 0;
}

/* This CPU's record; NULL while recording has not begun. */
static __always_inline struct cpu_account *this_account(void)
{
	__u64 began_ns = armed_ns;
	__u32 cpu = bpf_get_smp_processor_id();
	struct cpu_account *a;

	if (!began_ns)
		return NULL;
	a = bpf_map_lookup_elem(&cpu_accounts, &cpu);
	if (a && !a->levels[LEVEL_TASK].start_ns)
		begin_recording(a, began_ns);
	return a;
}

/* The running task's sums; new at first sight. NULL: no room, counted. */
static __always_inline struct task_account *running_account(struct cpu_account *a)
{
	struct running_task *running = &a->running;
	struct task_struct *task = (struct task_struct *)running->address;
	struct task_account *sums;

	sums = bpf_map_lookup_elem(&task_accounts, &running->key);
	if (sums)
		return sums;
	bpf_map_update_elem(&task_accounts, &running->key, &empty_task, BPF_NOEXIST);
	sums = bpf_map_lookup_elem(&task_accounts, &running->key);
	if (!sums) {
		account_loss(a, LOSS_tasks_full);
		return NULL;
	}
	bpf_core_read(&sums->tgid, sizeof(sums->tgid), &task->tgid);
	bpf_core_read(&sums->comm, sizeof(sums->comm), &task->comm);
	sums->charge_first = running->charge_base;
	sums->charge_last = running->charge_base;
	return sums;
}

static __always_inline void begin_task_write(struct task_account *task)
{
	ACCOUNT_ONCE(task->writes_begun) = task->writes_begun + 1;
	ACCOUNT_BARRIER();
}

static __always_inline void end_task_write(struct task_account *task)
{
	ACCOUNT_BARRIER();
	ACCOUNT_ONCE(task->writes_ended) = task->writes_ended + 1;
}

/*
 * `current` is not the task that is booked as running: that one left unseen.
 * Its task_struct, if it is still its own, says how long it ran.
 */
static __always_inline void find_left_unseen(struct cpu_account *a, struct task_struct *current)
{
	struct running_task *running = &a->running;
	struct task_struct *left = (struct task_struct *)running->address;
	__u64 start_time = 0, runtime_ns = 0, ran_ns = 0, most_ns;
	struct task_account *sums;

	most_ns = bpf_ktime_get_ns() - a->levels[LEVEL_TASK].start_ns;
	bpf_core_read(&start_time, sizeof(start_time), &left->start_time);
	bpf_core_read(&runtime_ns, sizeof(runtime_ns), &left->se.sum_exec_runtime);
	if (start_time == running->key.start_time && runtime_ns > running->charge_base.runtime_ns)
		ran_ns = runtime_ns - running->charge_base.runtime_ns;
	if (ran_ns > most_ns)
		ran_ns = most_ns;

	account_write_begin(&a->levels[LEVEL_TASK]);
	if (!(running->flags & RUNNING_IDLE)) {
		sums = running_account(a);
		if (sums) {
			begin_task_write(sums);
			sums->on_cpu_ns += ran_ns;
			sums->switches++;
			sums->cgroup_id = BPF_CORE_READ(left, cgroups, dfl_cgrp, kn, id);
			sums->charge_last.runtime_ns = runtime_ns;
			sums->flushed_ns = a->levels[LEVEL_TASK].start_ns + ran_ns;
			end_task_write(sums);
		}
	}
	account_left_unseen(a, ran_ns);
	set_running(a, current);
	account_write_end(&a->levels[LEVEL_TASK]);
}

/* The same at the entry of an interrupt: a busy CPU's next event is often one. */
static __always_inline struct cpu_account *interrupted_account(void)
{
	struct cpu_account *a = this_account();
	struct task_struct *current;

	if (a && a->hidden_switches) { /* never, but on a kernel that hides tasks */
		current = (struct task_struct *)bpf_get_current_task_btf();
		if (a->running.key.pid != (__u32)current->pid)
			find_left_unseen(a, current);
	}
	return a;
}

static __always_inline void irq_ended(struct cpu_account *a)
{
	/* inside a softirq: its own end looks at what is pending by then */
	if (a->levels[LEVEL_SOFTIRQ].start_ns)
		return;
#ifdef IRQPROF_PERCPU_SYMBOLS
	account_irq_exit_counted(a, kernel_preempt_count(), kernel_softirqs_pending());
#else
	account_irq_exit_guessed(a);
#endif
}

#define X(name)                                                                       \
	SEC("tp_btf/" #name "_exit")                                                  \
	int BPF_PROG(on_##name##_exit)                                                \
	{                                                                             \
		struct cpu_account *a = this_account();                               \
										      \
		if (a) {                                                              \
			irq_ended(a);                                                 \
			account_vector_exit(a, VECTOR_##name);                        \
		}                                                                     \
		return 0;                                                             \
	}                                                                             \
	SEC("tp_btf/" #name "_entry")                                                 \
	int BPF_PROG(on_##name##_entry)                                               \
	{                                                                             \
		struct cpu_account *a = interrupted_account();                        \
										      \
		if (a)                                                                \
			account_vector_entry(a, VECTOR_##name);                       \
		return 0;                                                             \
	}
IRQPROF_VECTORS(X)
#undef X

SEC("tp_btf/irq_handler_exit")
int BPF_PROG(on_irq_handler_exit, int irq, struct irqaction *action, int ret)
{
	struct cpu_account *a = this_account();

	if (a) {
		irq_ended(a);
		account_line_exit(a, irq, (__u64)action, ret != 0);
	}
	return 0;
}

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(on_irq_handler_entry, int irq, struct irqaction *action)
{
	struct cpu_account *a = interrupted_account();
	int fresh;
	__u32 slot;

	if (!a)
		return 0;
	slot = account_line_entry(a, irq, (__u64)action, &fresh);
	if (fresh)
		bpf_probe_read_kernel_str(a->lines[slot & (LINES - 1)].name, NAME_LENGTH,
					  action->name);
	return 0;
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(on_softirq_exit, unsigned int vec)
{
	struct cpu_account *a = this_account();

	if (!a || vec >= SOFTIRQS)
		return 0;
#ifdef IRQPROF_PERCPU_SYMBOLS
	account_softirq_exit(a, vec, kernel_softirqs_pending());
#else
	account_softirq_exit(a, vec, a->raised);
#endif
	return 0;
}

SEC("tp_btf/softirq_entry")
int BPF_PROG(on_softirq_entry, unsigned int vec)
{
	struct cpu_account *a = this_account();

	if (!a || vec >= SOFTIRQS)
		return 0;
	account_softirq_entry(a, vec, COUNTED);
#ifndef IRQPROF_PERCPU_SYMBOLS
	__sync_fetch_and_and(&a->raised, ~(1u << vec));
#endif
	return 0;
}

#ifndef IRQPROF_PERCPU_SYMBOLS
SEC("tp_btf/softirq_raise")
int BPF_PROG(on_softirq_raise, unsigned int vec)
{
	struct cpu_account *a = this_account();

	if (a && vec < SOFTIRQS)
		__sync_fetch_and_or(&a->raised, 1u << vec);
	return 0;
}
#endif

SEC("tp_btf/napi_poll")
int BPF_PROG(on_napi_poll, struct napi_struct *napi, int work, int budget)
{
	struct cpu_account *a = this_account();
	struct net_device *dev;
	int fresh;
	__u32 slot;

	if (!a)
		return 0;
	slot = account_napi_poll(a, (__u64)napi, work, budget, &fresh) & (NAPIS - 1);
	dev = napi->dev;
	if (fresh && dev) {
		a->napis[slot].ifindex = dev->ifindex;
		bpf_probe_read_kernel_str(a->napis[slot].netdev, COMM_LENGTH, dev->name);
	}
	return 0;
}

SEC("tp_btf/nmi_handler")
int BPF_PROG(on_nmi_handler, void *handler, __s64 delta_ns, int handled)
{
	struct cpu_account *a = this_account();

	if (a && delta_ns > 0)
		account_nmi(a, delta_ns);
	return 0;
}

static __always_inline void flush_task(struct cpu_account *a, struct task_struct *prev,
				       const struct account_stint *stint, const __u64 *columns)
{
	struct task_account *task = running_account(a);
	int i;

	if (!task)
		return;
	begin_task_write(task);
	account_add_stint(task, stint);
	task->switches++;
	task->flags = a->running.flags;
	task->cgroup_id = prev->cgroups->dfl_cgrp->kn->id;
	task->charge_last.utime_ns = prev->utime;
	task->charge_last.stime_ns = prev->stime;
	task->charge_last.runtime_ns = prev->se.sum_exec_runtime;
	for (i = 0; i < COLUMNS; i++)
		task->columns[i] += columns[i] - a->running.columns_base[i];
	account_add_thefts(task, a);
	end_task_write(task);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_sched_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct cpu_account *a = this_account();
	__u64 columns[COLUMNS] = {};
	struct account_stint stint;

	if (!a)
		return 0;
	if (a->running.key.pid != (__u32)prev->pid)
		find_left_unseen(a, prev);
	account_switch_out(a, &stint);
	columns_now(columns);
	if (!(a->running.flags & RUNNING_IDLE))
		flush_task(a, prev, &stint, columns);
	set_running(a, next);
	account_switch_in(a);
	return 0;
}

/* exec and prctl: a task's name is the one it has last */
SEC("tp_btf/task_rename")
int BPF_PROG(on_task_rename, struct task_struct *renamed, const char *comm)
{
	struct task_key key = { .start_time = renamed->start_time, .pid = renamed->pid };
	struct task_account *task = bpf_map_lookup_elem(&task_accounts, &key);

	if (task)
		bpf_probe_read_kernel_str(task->comm, COMM_LENGTH, comm);
	return 0;
}
