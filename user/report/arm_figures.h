// What the report of a run says of one arm that is not in its summary yet:
// figures taken from the profiles of its runs, medians over the rounds. Pure.
#ifndef IRQPROF_REPORT_ARM_FIGURES_H_
#define IRQPROF_REPORT_ARM_FIGURES_H_

#include <optional>
#include <string>
#include <vector>

#include "user/model/result.h"

namespace irqprof {

// The arm's interval of any metric, n == 0 where it was not measured. What the
// summary lacks is worked out from the runs: the slowdown from real and alone,
// the split of the interrupt share from the profiles.
Interval ArmInterval(const Arm& arm, const std::string& metric);

// Medians over the runs; absent where no run has a split. Medians do not add up
// as the runs' parts do, so `elsewhere`, the rest by definition, is their rest.
std::optional<HiddenSplit> ArmHiddenSplit(const Arm& arm);

// Which of the kernel's interrupt columns shows more than there was, over all
// runs: "softirq" or "irq"; empty where none does or no profile tells.
std::string OverfullColumn(const Arm& arm);

struct Thief {
  std::string kind;
  std::string name;
  double s = 0;      // median over the runs with a profile; 0 in a run without this thief
  double share = 0;  // of all that was stolen
};
// What ran on top of the competitor, most first.
std::vector<Thief> ThievesOfCompetitor(const Arm& arm);

}  // namespace irqprof

#endif  // IRQPROF_REPORT_ARM_FIGURES_H_
