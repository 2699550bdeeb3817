// The median of a few rounds and its 95 % interval, low..high. By the number n
// of values, because no one method serves both few and many:
//
// n >= kOrderStatisticsFrom: order statistics. x(k) and x(n+1-k) with the
//   largest k for which 1 - 2 P(Bin(n, 1/2) < k) >= 0.95. Nothing is assumed of
//   the values but that rounds are independent and of one distribution. (W. J.
//   Conover, "Practical Nonparametric Statistics", 3rd ed., section 3.2.) Fewer
//   than 6 cannot do it: even their whole range holds the median with
//   1 - 2^(1-n) only, 3 values with 75 %.
// 2 <= n < kOrderStatisticsFrom: Student's t. median +- t(0.975, n-1) s / sqrt(n),
//   s the standard deviation. This takes rounds as normally spread, and a report
//   must say which method it shows. The median is a little less steady than the
//   mean that t is made for: of normal values 94 to 95 % of the intervals hold
//   (simulated; a test repeats it). low may fall below what a metric can be.
// n == 1: low == high == median; one round carries no interval.
//
// Values that are not finite are left out; n counts the rest. Which values are
// comparable is not decided here.
#ifndef IRQPROF_MODEL_STATISTICS_H_
#define IRQPROF_MODEL_STATISTICS_H_

#include <map>
#include <string>
#include <vector>

#include "user/model/result.h"

namespace irqprof {

inline constexpr int kOrderStatisticsFrom = 6;

// 0 for no values. Of an even count, the mean of the two in the middle.
double Median(std::vector<double> values);

Interval MedianInterval(std::vector<double> values);

// Every metric that at least one run has, over the runs that have it.
std::map<std::string, Interval> Summarize(const std::vector<Run>& runs);

}  // namespace irqprof

#endif  // IRQPROF_MODEL_STATISTICS_H_
