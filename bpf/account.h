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

#include "account_levels.h"
#include "account_interrupts.h"
#include "account_tasks.h"

#endif /* IRQPROF_BPF_ACCOUNT_H_ */
