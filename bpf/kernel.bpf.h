/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The kernel's types, as far as they are used, with CO-RE relocations instead
 * of a vmlinux.h, so that the build does not depend on the machine it runs on.
 * Asks for features, never for versions; each flavour says what it stands for.
 */
#ifndef IRQPROF_BPF_KERNEL_BPF_H_
#define IRQPROF_BPF_KERNEL_BPF_H_

#include <linux/bpf.h>
#include <stdbool.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>

#define PF_KTHREAD 0x00200000

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct kernfs_node {
	__u64 id;
};

struct cgroup {
	struct kernfs_node *kn;
};

struct css_set {
	struct cgroup *dfl_cgrp;
};

struct sched_entity {
	__u64 sum_exec_runtime;
};

struct task_struct {
	unsigned int flags;
	int pid;
	int tgid;
	__u64 start_time;
	__u64 utime;
	__u64 stime;
	struct sched_entity se;
	struct css_set *cgroups;
	char comm[16];
};

struct irqaction {
	const char *name;
};

struct net_device {
	int ifindex;
	char name[16];
};

struct napi_struct {
	struct net_device *dev;
};

/* 6.2 to 6.14: the hot per-CPU words in one struct */
struct pcpu_hot {
	int preempt_count;
	__u16 softirq_pending;
};

/* until 6.1: the pending word is in irq_stat */
typedef struct {
	__u16 __softirq_pending;
} irq_cpustat_t;

#pragma clang attribute pop

/* per-CPU `kernel_cpustat`: ns by enum cpu_usage_stat, an array and nothing
 * else, so it needs no relocation */
struct kernel_cpustat {
	__u64 cpustat[8];
};

/*
 * Per-CPU variables: in BTF everywhere, but their addresses only where the
 * kernel keeps all symbols (KALLSYMS_ALL). They are therefore used only in the
 * second build of the ledger (IRQPROF_PERCPU_SYMBOLS), which the loader takes
 * when it loads.
 */
#ifdef IRQPROF_PERCPU_SYMBOLS

extern const int __preempt_count __ksym __weak;           /* until 6.1, from 6.15 */
extern const __u16 __softirq_pending __ksym __weak;       /* from 6.15 */
extern const irq_cpustat_t irq_stat __ksym __weak;        /* until 6.1 */
extern const struct pcpu_hot pcpu_hot __ksym __weak;      /* 6.2 to 6.14 */
extern const struct kernel_cpustat kernel_cpustat __ksym __weak;

static __always_inline __u32 kernel_preempt_count(void)
{
	if (&pcpu_hot)
		return ((struct pcpu_hot *)bpf_this_cpu_ptr(&pcpu_hot))->preempt_count;
	if (&__preempt_count)
		return *(int *)bpf_this_cpu_ptr(&__preempt_count);
	return ~0u; /* "inside a softirq": never claims an interrupt exit */
}

static __always_inline __u32 kernel_softirqs_pending(void)
{
	if (&__softirq_pending)
		return *(__u16 *)bpf_this_cpu_ptr(&__softirq_pending);
	if (&irq_stat && bpf_core_field_exists(((irq_cpustat_t *)0)->__softirq_pending)) {
		irq_cpustat_t *stat = bpf_this_cpu_ptr(&irq_stat);
		__u16 pending = 0;

		/* the verifier of 6.1 follows no pointer to a typedef */
		bpf_core_read(&pending, sizeof(pending), &stat->__softirq_pending);
		return pending;
	}
	if (&pcpu_hot && bpf_core_field_exists(((struct pcpu_hot *)0)->softirq_pending))
		return ((struct pcpu_hot *)bpf_this_cpu_ptr(&pcpu_hot))->softirq_pending;
	return 0;
}

#endif

#endif /* IRQPROF_BPF_KERNEL_BPF_H_ */
