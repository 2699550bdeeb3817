// The metrics of a scenario: the one list of what may stand in Run::metrics.
//
// A scenario may show only metrics of this list; the report takes label and
// unit from it; a gate takes the direction. Values are SI; the unit ends the
// metric's name. Shares are 0..1 of the CPU's elapsed time over the measured
// window. A result of a later version may hold metrics this list does not
// know: readers keep them, they are only not described.
#ifndef IRQPROF_MODEL_METRICS_H_
#define IRQPROF_MODEL_METRICS_H_

#include <string_view>
#include <vector>

namespace irqprof {

enum class Better { kLower, kHigher, kNeither };

struct MetricInfo {
  std::string_view name;
  std::string_view unit;  // as printed: "s", "MiB/s", "1/s", "us/MiB", "x"; empty: a share
  Better better;
  std::string_view label;  // a few words, for a row or a column
  std::string_view description;
};

// In the order in which they are shown.
const std::vector<MetricInfo>& KnownMetrics();

// Null where the name is not known.
const MetricInfo* FindMetric(std::string_view name);

}  // namespace irqprof

#endif  // IRQPROF_MODEL_METRICS_H_
