// Lays the exact ledger beside the kernel's own and says where they part.
//
// Pure. Each finding compares one exact value with one of the kernel's and
// carries the bound within which the two would agree, derived here:
//
//   hidden-hardirq, hidden-softirq (per CPU)
//     exact: self time of hardirqs and vectors (softirqs); kernel: the irq
//     (softirq) column of /proc/stat. The column was read before and after each
//     snapshot, so its true gain lies between the narrowest and the widest
//     difference of those reads, and it is printed in whole ticks:
//       bound = 1 tick + the wider side of that bracket.
//   task-charge (per task that had >= 1 % of the time)
//     exact: own time; kernel: utime + stime, each kept in whole kernel ticks,
//     none longer than a USER_HZ tick, and known as of when the task last left a
//     CPU:
//       bound = 2 ticks + how long it was on a CPU at either end of the interval.
//   task-runtime (per task whose /proc files were read)
//     exact: time on a CPU, own and stolen; kernel: run time of
//     /proc/PID/schedstat, read before and after each snapshot. The scheduler
//     reads its clock up to some 2 us away from the switch's hook, and that clock
//     is not slewed as ours is:
//       bound = the wider side of the bracket + 2 us per switch + 500 ppm.
//
// Verdicts: "agrees" within the bound, "misattributed" outside it, and
// "not-comparable" where the kernel does not print the value at all.
#ifndef IRQPROF_RECONCILE_RECONCILE_H_
#define IRQPROF_RECONCILE_RECONCILE_H_

#include <vector>

#include "user/model/result.h"
#include "user/model/snapshot.h"

namespace irqprof {

std::vector<Finding> Reconcile(const Profile& profile, const Snapshot& earlier,
                               const Snapshot& later);

}  // namespace irqprof

#endif  // IRQPROF_RECONCILE_RECONCILE_H_
