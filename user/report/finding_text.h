// What a run found, in words, for one arm. Pure; no layout.
#ifndef IRQPROF_REPORT_FINDING_TEXT_H_
#define IRQPROF_REPORT_FINDING_TEXT_H_

#include <string>

#include "user/model/result.h"

namespace irqprof {

// "exact 31.2 % interrupts, the kernel's columns show 17.0 %; 14.2 % hidden: ..."
// A tainted arm is called "measured at least", not "exact".
std::string FindingText(const Arm& arm, bool tainted);

// "the kernel charged the competitor 3.653 s (0.939 user, 2.714 sys) for 0.904 s
// of own work". Empty where one of them was not measured.
std::string ChargeText(const Arm& arm);

// That own work (own time less the unobserved) against the same work alone: the
// two should be one. Empty where one of them was not measured.
std::string ProofText(const Arm& arm);

}  // namespace irqprof

#endif  // IRQPROF_REPORT_FINDING_TEXT_H_
