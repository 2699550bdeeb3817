// The median of a few rounds and how far it can be trusted.
//
// From n >= 6 values, low..high is a distribution-free 95 % confidence interval
// of the median: two order statistics x(k), x(n+1-k) with the largest k for
// which 1 - 2 P(Bin(n, 1/2) < k) >= 0.95. Nothing is assumed of the values but
// that rounds are independent and of one distribution. (W. J. Conover,
// "Practical Nonparametric Statistics", 3rd ed., section 3.2; H. A. David and
// H. N. Nagaraja, "Order Statistics", 3rd ed., section 7.1.)
//
// Fewer than 6 values cannot carry 95 %: even the whole range holds the median
// with 1 - 2^(1-n) only (3 values: 75 %, 5 values: 93.75 %). There low..high IS
// the range, and MedianConfidence(n) says what it is worth. A report must not
// call it a 95 % interval.
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

// 0 for no values. Of an even count, the mean of the two in the middle.
double Median(std::vector<double> values);

Interval MedianInterval(std::vector<double> values);

// The confidence (0..1) with which MedianInterval of n values holds the median.
double MedianConfidence(int n);

// Every metric that at least one run has, over the runs that have it.
std::map<std::string, Interval> Summarize(const std::vector<Run>& runs);

}  // namespace irqprof

#endif  // IRQPROF_MODEL_STATISTICS_H_
