#include "user/model/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "user/model/metrics.h"

namespace irqprof {
namespace {

std::vector<double> OneTo(int n) {
  std::vector<double> values;
  for (int i = n; i >= 1; --i) values.push_back(i);
  return values;
}

TEST(Statistics, MedianOfAnEvenCountIsTheMeanOfTheMiddle) {
  EXPECT_EQ(Median({3, 1, 2}), 2);
  EXPECT_EQ(Median({4, 1, 3, 2}), 2.5);
  EXPECT_EQ(Median({}), 0);
}

// From the table of the median's intervals in textbooks (two-sided, 95 %).
TEST(Statistics, IntervalIsThePairOfOrderStatisticsOfTheTextbooks) {
  const struct {
    int n, low, high;
  } expected[] = {{6, 1, 6},   {7, 1, 7},   {8, 1, 8},   {9, 2, 8},    {10, 2, 9},   {12, 3, 10},
                  {15, 4, 12}, {20, 6, 15}, {25, 8, 18}, {50, 18, 33}, {100, 40, 61}};
  for (const auto& [n, low, high] : expected) {
    const Interval interval = MedianInterval(OneTo(n));
    EXPECT_EQ(interval.low, low) << n;
    EXPECT_EQ(interval.high, high) << n;
    EXPECT_EQ(interval.n, n);
  }
}

// By hand: s * t(0.975, n - 1) / sqrt(n), t from a printed table.
TEST(Statistics, TwoToFiveValuesGiveStudentsInterval) {
  const struct {
    std::vector<double> values;
    double median, half;
  } expected[] = {{{0, 2}, 1, 12.706},
                  {{2, 5, 3}, 3, 3.795},
                  {{1, 0, -1, 0}, 0, 1.2992},
                  {{5, 4, 3, 2, 1}, 3, 1.9632}};
  for (const auto& [values, median, half] : expected) {
    const Interval interval = MedianInterval(values);
    EXPECT_EQ(interval.median, median);
    EXPECT_NEAR(interval.low, median - half, 0.001) << values.size();
    EXPECT_NEAR(interval.high, median + half, 0.001) << values.size();
    EXPECT_EQ(interval.n, static_cast<int>(values.size()));
  }
}

TEST(Statistics, OneValueCarriesNoInterval) {
  const Interval interval = MedianInterval({2.5});
  EXPECT_EQ(interval.low, 2.5);
  EXPECT_EQ(interval.median, 2.5);
  EXPECT_EQ(interval.high, 2.5);
  EXPECT_EQ(interval.n, 1);
  EXPECT_EQ(MedianInterval({}).n, 0);
}

TEST(Statistics, RoundsThatAreAllTheSameHaveAnIntervalWithoutWidth) {
  for (int n = 2; n <= 8; ++n) {
    const Interval interval = MedianInterval(std::vector<double>(n, 0.1));
    EXPECT_EQ(interval.low, 0.1) << n;
    EXPECT_EQ(interval.high, 0.1) << n;
  }
}

TEST(Statistics, SpreadOfLargeValuesThatHardlyDifferKeepsItsDigits) {
  const Interval interval = MedianInterval({4e12 + 1, 4e12 + 2, 4e12 + 3});
  EXPECT_NEAR(interval.high - interval.median, 4.3027 / std::sqrt(3.0), 0.001);
}

template <typename Distribution>
double ShareOfIntervalsThatHold(double true_median, int n, Distribution distribution) {
  constexpr int kTrials = 20000;
  std::mt19937_64 random(1999);
  int held = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> values(n);
    for (double& value : values) value = distribution(random);
    const Interval interval = MedianInterval(values);
    held += interval.low <= true_median && true_median <= interval.high;
  }
  return static_cast<double>(held) / kTrials;
}

// The claims themselves. 0.005 is over three standard errors of 20,000 trials.
TEST(Statistics, StudentsIntervalHoldsTheMedianOfNormalValues) {
  for (const int n : {2, 3, 4, 5}) {
    const double share = ShareOfIntervalsThatHold(7.0, n, std::normal_distribution<double>(7, 2));
    EXPECT_GT(share, 0.930) << n;
    EXPECT_LT(share, 0.957) << n;
  }
}

// 1 - 2 P(Bin(n, 1/2) < k), whatever the distribution: here one that is skewed.
TEST(Statistics, OrderStatisticsHoldTheMedianOfSkewedValues) {
  const std::pair<int, double> confidences[] = {{6, 0.9688}, {9, 0.9609}, {20, 0.9586}};
  for (const auto& [n, confidence] : confidences)
    EXPECT_NEAR(
        ShareOfIntervalsThatHold(std::log(2.0), n, std::exponential_distribution<double>(1)),
        confidence, 0.005)
        << n;
}

TEST(Statistics, ManyValuesNeitherOverflowNorUnderflow) {
  const Interval interval = MedianInterval(OneTo(20001));
  EXPECT_EQ(interval.median, 10001);
  // Half width of the normal approximation: 1.96 * sqrt(n) / 2.
  EXPECT_NEAR(interval.median - interval.low, 138.6, 2);
  EXPECT_NEAR(interval.high - interval.median, 138.6, 2);
  const double huge = std::numeric_limits<double>::max();
  EXPECT_EQ(Median({huge, huge}), huge);
}

TEST(Statistics, SummaryTakesEachMetricFromTheRunsThatHaveIt) {
  std::vector<irqprof::Run> runs(3);
  runs[0].metrics = {{"a", 1}, {"b", 7}};
  runs[1].metrics = {{"a", 3}, {"c", std::nan("")}};
  runs[2].metrics = {{"a", 2}};
  const auto summary = Summarize(runs);
  ASSERT_EQ(summary.size(), 2u);
  EXPECT_EQ(summary.at("a").median, 2);
  EXPECT_EQ(summary.at("a").n, 3);
  EXPECT_EQ(summary.at("b").n, 1);
}

TEST(Metrics, EachIsKnownOnceAndOthersAreNot) {
  for (const MetricInfo& metric : KnownMetrics()) {
    EXPECT_EQ(FindMetric(metric.name), &metric) << metric.name;
    EXPECT_FALSE(metric.description.empty()) << metric.name;
  }
  EXPECT_EQ(FindMetric("competitor_real"), nullptr);
  EXPECT_EQ(FindMetric(""), nullptr);
}

}  // namespace
}  // namespace irqprof
