// Numbers as words. The only place where a measured value is rounded.
#ifndef IRQPROF_REPORT_FIGURES_H_
#define IRQPROF_REPORT_FIGURES_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "user/model/result.h"
#include "user/report/page.h"

namespace irqprof {

inline constexpr char kNotMeasured[] = "-";

std::string Fixed(double value, int decimals);  // "2.337"; never "-0.0"
std::string Grouped(double value);              // "229,829"
std::string Percent(double share);              // 0.312 -> "31.2"
std::string SignedPercent(double share);        // 1.25 -> "+125.0 %"
std::string Seconds(int64_t ns);                // "2.337"
// "1 CPU", "2 CPUs"; `many` where it is not `one` and an s.
std::string Count(int64_t count, const char* one, const char* many = nullptr);

// A value of this metric in the unit of its column head.
std::string MetricFigure(std::string_view metric, double value);
// That unit: as in model/metrics.h, but "%" for shares.
std::string MetricUnit(std::string_view metric);
// The median, and below it the interval where there is more than one value.
Cell IntervalCell(std::string_view metric, const Interval& interval);

}  // namespace irqprof

#endif  // IRQPROF_REPORT_FIGURES_H_
