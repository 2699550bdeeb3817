// The names of vectors, softirqs and losses, in the order of bpf/records.h.
#ifndef IRQPROF_MODEL_NAMES_H_
#define IRQPROF_MODEL_NAMES_H_

#include "bpf/records.h"

namespace irqprof {

#define IRQPROF_NAME(name) #name,
inline constexpr const char* kVectorNames[VECTORS] = {IRQPROF_VECTORS(IRQPROF_NAME)};
inline constexpr const char* kSoftirqNames[SOFTIRQS] = {IRQPROF_SOFTIRQS(IRQPROF_NAME)};
inline constexpr const char* kLossNames[LOSSES] = {IRQPROF_LOSSES(IRQPROF_NAME)};
#undef IRQPROF_NAME

}  // namespace irqprof

#endif  // IRQPROF_MODEL_NAMES_H_
