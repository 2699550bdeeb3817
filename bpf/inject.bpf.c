/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A known interrupt load: run on a software cpu-clock perf event, this spins
 * inside the timer's hardirq for a fixed time and keeps its own record of it.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual MIT/GPL";

volatile __u64 spin_ns;     /* set by user space before it is attached */
volatile __u64 injected_ns; /* one CPU injects at a time: a plain sum is right */

struct spin {
	__u64 end_ns;
};

static long spin_on(__u32 turn, struct spin *spin)
{
	return bpf_ktime_get_ns() >= spin->end_ns;
}

SEC("perf_event")
int on_cpu_clock(void *ctx)
{
	__u64 start_ns = bpf_ktime_get_ns();
	struct spin spin = { .end_ns = start_ns + spin_ns };

	/* bounded: far more turns than the longest spin takes */
	bpf_loop(1 << 20, spin_on, &spin, 0);
	injected_ns += bpf_ktime_get_ns() - start_ns;
	return 0;
}
