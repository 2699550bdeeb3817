// What a run found, in words, for one arm. Pure; no layout.
#ifndef IRQPROF_REPORT_FINDING_TEXT_H_
#define IRQPROF_REPORT_FINDING_TEXT_H_

#include <string>

#include "user/model/result.h"

namespace irqprof {

// "exact 31.2 % interrupts, the kernel's columns show 17.0 %; 14.2 % hidden: ..."
// A tainted arm is called "measured at least", not "exact".
std::string FindingText(const Arm& arm, bool tainted);

// Own time less the unobserved against the time alone, and user + sys against
// it: the first should be 0 %, the second is what the accounting got wrong.
// Empty where one of them was not measured.
std::string ProofText(const Arm& arm);

}  // namespace irqprof

#endif  // IRQPROF_REPORT_FINDING_TEXT_H_
