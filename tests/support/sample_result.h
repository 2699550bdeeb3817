// Results made by hand, for tests of what reads them. The figures have the size
// and shape of real ones and keep the invariants of user/model/result.h.
#ifndef IRQPROF_SUPPORT_SAMPLE_RESULT_H_
#define IRQPROF_SUPPORT_SAMPLE_RESULT_H_

#include "user/model/result.h"

namespace irqprof {

// `run rl-vs-de`: two arms, three rounds, published rows, nothing lost.
Result SampleRun();

// `record`: two CPUs, an interrupt line and tasks with hostile names.
Result SampleRecord();

}  // namespace irqprof

#endif  // IRQPROF_SUPPORT_SAMPLE_RESULT_H_
