#include "user/model/statistics.h"

#include <algorithm>
#include <cmath>

namespace irqprof {
namespace {

constexpr double kConfidence = 0.95;

// P(Bin(n, 1/2) == k), by logarithms so that a large n does not underflow.
double BinomialHalf(int n, int k) {
  return std::exp(std::lgamma(n + 1.0) - std::lgamma(k + 1.0) - std::lgamma(n - k + 1.0) -
                  n * std::log(2.0));
}

struct Rank {
  int k = 1;  // 1-based: x(k) .. x(n + 1 - k)
  double confidence = 0;
};

// The narrowest pair that carries 95 %, or the range where none does.
Rank MedianRank(int n) {
  if (n < 1) return {};
  double below = BinomialHalf(n, 0);  // P(Bin < k)
  Rank rank{1, 1 - 2 * below};
  for (int k = 2; 2 * k <= n; ++k) {
    below += BinomialHalf(n, k - 1);
    if (1 - 2 * below < kConfidence) break;
    rank = {k, 1 - 2 * below};
  }
  return rank;
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

}  // namespace

double Median(std::vector<double> values) { return MedianInterval(std::move(values)).median; }

Interval MedianInterval(std::vector<double> values) {
  const std::vector<double> sorted = SortedFinite(std::move(values));
  if (sorted.empty()) return {};
  const int n = static_cast<int>(sorted.size());
  const int k = MedianRank(n).k;
  return {SortedMedian(sorted), sorted[k - 1], sorted[n - k], n};
}

double MedianConfidence(int n) { return std::max(0.0, MedianRank(n).confidence); }

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
