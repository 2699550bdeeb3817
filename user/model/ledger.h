// The exact ledger of an interval: the later of two snapshots minus the
// earlier. Pure; integer nanoseconds throughout, nothing is rounded.
//
// Per CPU, self times + unattributed = elapsed. `unattributed` is not forced:
// elapsed comes from the reader's clock, the self times from the events, and
// what is left over is shown. A CPU that is not in both snapshots is left out:
// its counters have no common start.
#ifndef IRQPROF_MODEL_LEDGER_H_
#define IRQPROF_MODEL_LEDGER_H_

#include "user/model/result.h"
#include "user/model/snapshot.h"

namespace irqprof {

// `tick_ns`: one USER_HZ tick. `host` is copied in. Findings stay empty.
Profile BuildProfile(const Snapshot& earlier, const Snapshot& later, const HostFacts& host,
                     int64_t tick_ns);

// The NIC a device line belongs to, or null. A message-signalled line is its
// device's alone; a legacy line may be shared, so there the action must carry
// the NIC's name.
const NicFact* NicOfLine(const std::vector<NicFact>& nics, int irq, const std::string& action);

}  // namespace irqprof

#endif  // IRQPROF_MODEL_LEDGER_H_
