#include "user/model/statistics.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace irqprof {
namespace {

constexpr double kConfidence = 0.95;

// P(Bin(n, 1/2) == k), by logarithms so that a large n does not underflow.
double BinomialHalf(int n, int k) {
  return std::exp(std::lgamma(n + 1.0) - std::lgamma(k + 1.0) - std::lgamma(n - k + 1.0) -
                  n * std::log(2.0));
}

// The 1-based k of the narrowest x(k)..x(n+1-k) that carries 95 %.
int MedianRank(int n) {
  int k = 1;
  double below = BinomialHalf(n, 0);  // P(Bin < k)
  while (2 * (k + 1) <= n) {
    below += BinomialHalf(n, k);
    if (1 - 2 * below < kConfidence) break;
    ++k;
  }
  return k;
}

double SortedMedian(const std::vector<double>& sorted) {
  const size_t half = sorted.size() / 2;
  if (sorted.size() % 2 == 1) return sorted[half];
  return sorted[half - 1] / 2 + sorted[half] / 2;  // no overflow of the sum
}

std::vector<double> SortedFinite(std::vector<double> values) {
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  std::sort(values.begin(), values.end());
  return values;
}

// Deviations are taken from the median, which is near: no digits are lost.
double StandardDeviation(const std::vector<double>& values, double median) {
  const double n = static_cast<double>(values.size());
  double mean = 0;
  for (const double value : values) mean += (value - median) / n;
  double squares = 0;
  for (const double value : values) squares += std::pow(value - median - mean, 2);
  return std::sqrt(squares / (n - 1));
}

double StudentHalfWidth(const std::vector<double>& values, double median) {
  // t(0.975, n - 1), from any table of the distribution.
  constexpr double kT[kOrderStatisticsFrom] = {0, 0, 12.7062, 4.3027, 3.1824, 2.7764};
  const size_t n = values.size();
  return kT[n] * StandardDeviation(values, median) / std::sqrt(static_cast<double>(n));
}

}  // namespace

double Median(std::vector<double> values) {
  const std::vector<double> sorted = SortedFinite(std::move(values));
  return sorted.empty() ? 0 : SortedMedian(sorted);
}

Interval MedianInterval(std::vector<double> values) {
  const std::vector<double> sorted = SortedFinite(std::move(values));
  if (sorted.empty()) return {};
  const int n = static_cast<int>(sorted.size());
  const double median = SortedMedian(sorted);
  if (n == 1) return {median, median, median, n};
  if (n >= kOrderStatisticsFrom) {
    const int k = MedianRank(n);
    return {median, sorted[k - 1], sorted[n - k], n};
  }
  const double half = StudentHalfWidth(sorted, median);
  return {median, median - half, median + half, n};
}

std::map<std::string, Interval> Summarize(const std::vector<Run>& runs) {
  std::map<std::string, std::vector<double>> values;
  for (const Run& run : runs)
    for (const auto& [name, value] : run.metrics) values[name].push_back(value);
  std::map<std::string, Interval> summary;
  for (auto& [name, of_runs] : values) {
    const Interval interval = MedianInterval(std::move(of_runs));
    if (interval.n > 0) summary[name] = interval;
  }
  return summary;
}

}  // namespace irqprof
