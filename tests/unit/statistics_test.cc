#include "user/model/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

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
    EXPECT_GE(MedianConfidence(n), 0.95) << n;
  }
}

TEST(Statistics, FewerThanSixValuesGiveTheRangeAndAdmitIt) {
  const Interval interval = MedianInterval({2, 5, 3});
  EXPECT_EQ(interval.low, 2);
  EXPECT_EQ(interval.median, 3);
  EXPECT_EQ(interval.high, 5);
  EXPECT_DOUBLE_EQ(MedianConfidence(3), 0.75);
  EXPECT_DOUBLE_EQ(MedianConfidence(5), 0.9375);
  EXPECT_DOUBLE_EQ(MedianConfidence(1), 0);
  EXPECT_DOUBLE_EQ(MedianConfidence(0), 0);
}

// The claim itself, on a skewed distribution whose median is ln 2.
TEST(Statistics, IntervalHoldsTheTrueMedianAsOftenAsItSays) {
  std::mt19937_64 random(1999);
  std::exponential_distribution<double> skewed(1.0);
  for (const int n : {3, 6, 9, 20}) {
    constexpr int kTrials = 20000;
    int held = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      std::vector<double> values(n);
      for (double& value : values) value = skewed(random);
      const Interval interval = MedianInterval(values);
      held += interval.low <= std::log(2.0) && std::log(2.0) <= interval.high;
    }
    EXPECT_NEAR(static_cast<double>(held) / kTrials, MedianConfidence(n), 0.01) << n;
  }
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
