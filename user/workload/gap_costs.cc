#include "user/workload/gap_costs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

namespace irqprof {
namespace {

enum Class { kHardirq, kVector, kSoftirq, kClasses };

// A gap without a switch, in ns.
struct Sample {
  std::array<double, kClasses> counts;
  double unobserved_ns;
};

using Costs = std::array<std::optional<double>, kClasses>;

// What is cut off at each end.
size_t TrimmedCount(size_t count) { return count / 20; }

double TrimmedMean(const std::vector<double>& sorted) {
  const size_t cut = TrimmedCount(sorted.size());
  const double sum = std::accumulate(sorted.begin() + cut, sorted.end() - cut, 0.0);
  return sum / static_cast<double>(sorted.size() - 2 * cut);
}

GapCost CostOf(std::vector<double> samples_ns) {
  GapCost cost;
  cost.sample_count = static_cast<int>(samples_ns.size());
  if (samples_ns.empty()) return cost;
  std::sort(samples_ns.begin(), samples_ns.end());
  const size_t half = samples_ns.size() / 2;
  cost.median_ns =
      samples_ns.size() % 2 == 1 ? samples_ns[half] : (samples_ns[half - 1] + samples_ns[half]) / 2;
  cost.mean_ns = std::accumulate(samples_ns.begin(), samples_ns.end(), 0.0) /
                 static_cast<double>(samples_ns.size());
  if (cost.sample_count >= kMinGapSamples) cost.k_ns = std::max(0.0, TrimmedMean(samples_ns));
  return cost;
}

std::vector<Sample> SamplesOf(const GapRun& run, int* switched_count) {
  std::vector<Sample> samples;
  for (const Gap& gap : run.gaps) {
    if (gap.switches != 0) {
      ++*switched_count;
      continue;
    }
    const double ticks = static_cast<double>(gap.gap_ticks) - static_cast<double>(run.step_ticks);
    samples.push_back({{static_cast<double>(gap.hardirqs), static_cast<double>(gap.vectors),
                        static_cast<double>(gap.softirqs)},
                       ticks * run.ns_per_tick - static_cast<double>(gap.captured_ns)});
  }
  return samples;
}

bool OneInterrupt(const Sample& sample, Class which) {
  const Class other = which == kHardirq ? kVector : kHardirq;
  return sample.counts[which] == 1 && sample.counts[other] == 0;
}

GapCost PureInterrupt(const std::vector<Sample>& samples, Class which) {
  std::vector<double> pure_ns;
  for (const Sample& sample : samples)
    if (OneInterrupt(sample, which) && sample.counts[kSoftirq] == 0)
      pure_ns.push_back(sample.unobserved_ns);
  return CostOf(std::move(pure_ns));
}

GapCost PureSoftirq(const std::vector<Sample>& samples, const Costs& known) {
  std::vector<double> pure_ns;
  for (const Sample& sample : samples)
    for (Class interrupt : {kHardirq, kVector})
      if (known[interrupt] && OneInterrupt(sample, interrupt) && sample.counts[kSoftirq] >= 1)
        pure_ns.push_back((sample.unobserved_ns - *known[interrupt]) / sample.counts[kSoftirq]);
  return CostOf(std::move(pure_ns));
}

// Solves the normal equations for the classes in `free`; absent: singular.
// Gaussian elimination; the matrix is positive semidefinite, so pivots need no
// search.
std::optional<std::array<double, kClasses>> Solve(const std::vector<Sample>& samples,
                                                  const std::vector<int>& free) {
  const size_t n = free.size();
  double matrix[kClasses][kClasses + 1] = {};
  for (const Sample& sample : samples)
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j < n; ++j)
        matrix[i][j] += sample.counts[free[i]] * sample.counts[free[j]];
      matrix[i][n] += sample.counts[free[i]] * sample.unobserved_ns;
    }
  for (size_t i = 0; i < n; ++i) {
    double diagonal = 0;
    for (const Sample& sample : samples)
      diagonal += sample.counts[free[i]] * sample.counts[free[i]];
    // what the classes before leave of this one: nothing, if it always comes in
    // a fixed proportion with them
    if (matrix[i][i] <= 1e-3 * diagonal) return std::nullopt;
    for (size_t row = i + 1; row < n; ++row) {
      const double factor = matrix[row][i] / matrix[i][i];
      for (size_t column = i; column <= n; ++column)
        matrix[row][column] -= factor * matrix[i][column];
    }
  }
  std::array<double, kClasses> solution = {};
  for (size_t i = n; i-- > 0;) {
    double right = matrix[i][n];
    for (size_t j = i + 1; j < n; ++j) right -= matrix[i][j] * solution[free[j]];
    solution[free[i]] = right / matrix[i][i];
  }
  return solution;
}

double SquaredError(const std::vector<Sample>& samples, const std::array<double, kClasses>& cost) {
  double sum = 0;
  for (const Sample& sample : samples) {
    double rest = sample.unobserved_ns;
    for (int c = 0; c < kClasses; ++c) rest -= sample.counts[c] * cost[c];
    sum += rest * rest;
  }
  return sum;
}

// The best fit with no negative cost: of all choices of classes held at zero,
// the feasible one with the smallest error. With three classes all are tried.
std::optional<std::array<double, kClasses>> NonNegativeFit(const std::vector<Sample>& samples,
                                                           const std::vector<int>& unknown) {
  if (!Solve(samples, unknown)) return std::nullopt;  // not to be told apart
  std::array<double, kClasses> best = {};
  double best_error = SquaredError(samples, best);
  for (unsigned choice = 1; choice < 1u << unknown.size(); ++choice) {
    std::vector<int> free;
    for (size_t i = 0; i < unknown.size(); ++i)
      if (choice >> i & 1) free.push_back(unknown[i]);
    const auto fit = Solve(samples, free);
    if (!fit || std::any_of(fit->begin(), fit->end(), [](double k) { return k < 0; })) continue;
    const double error = SquaredError(samples, *fit);
    if (error >= best_error) continue;
    best_error = error;
    best = *fit;
  }
  return best;
}

// As for the means: the gaps with the largest and smallest cost per event go.
void Trim(std::vector<Sample>& samples) {
  const auto per_event_ns = [](const Sample& sample) {
    return sample.unobserved_ns / std::accumulate(sample.counts.begin(), sample.counts.end(), 0.0);
  };
  std::sort(samples.begin(), samples.end(),
            [&](const Sample& a, const Sample& b) { return per_event_ns(a) < per_event_ns(b); });
  const size_t cut = TrimmedCount(samples.size());
  samples.erase(samples.end() - cut, samples.end());
  samples.erase(samples.begin(), samples.begin() + cut);
}

// Fits the classes that are not known, from the gaps they occur in. Classes too
// rare to measure are not fitted, and gaps with them not used.
void FitTheRest(std::vector<Sample> samples, const Costs& known,
                std::array<GapCost, kClasses>& costs) {
  std::vector<int> unknown;
  for (int c = 0; c < kClasses; ++c) {
    if (known[c]) continue;
    const auto with = std::count_if(samples.begin(), samples.end(),
                                    [c](const Sample& sample) { return sample.counts[c] > 0; });
    if (with >= kMinGapSamples) {
      unknown.push_back(c);
    } else {
      std::erase_if(samples, [c](const Sample& sample) { return sample.counts[c] > 0; });
    }
  }
  std::erase_if(samples, [&](const Sample& sample) {
    return std::none_of(unknown.begin(), unknown.end(),
                        [&](int c) { return sample.counts[c] > 0; });
  });
  if (unknown.empty() || samples.size() < kMinGapSamples) return;
  Trim(samples);
  for (Sample& sample : samples)
    for (int c = 0; c < kClasses; ++c)
      if (known[c]) sample.unobserved_ns -= std::exchange(sample.counts[c], 0) * *known[c];

  auto fit = NonNegativeFit(samples, unknown);
  if (!fit && known[kVector] && unknown == std::vector<int>{kHardirq, kSoftirq}) {
    // never one without the other: see the header
    costs[kHardirq].k_ns = known[kVector];
    costs[kHardirq].fitted = true;
    for (Sample& sample : samples)
      sample.unobserved_ns -= std::exchange(sample.counts[kHardirq], 0) * *known[kVector];
    unknown = {kSoftirq};
    fit = NonNegativeFit(samples, unknown);
  }
  if (!fit) return;
  for (int c : unknown) {
    costs[c].k_ns = (*fit)[c];
    costs[c].fitted = true;
    costs[c].sample_count =
        static_cast<int>(std::count_if(samples.begin(), samples.end(),
                                       [c](const Sample& sample) { return sample.counts[c] > 0; }));
  }
}

}  // namespace

GapCosts CostsOfGaps(const GapRun& run) {
  GapCosts result;
  const std::vector<Sample> samples = SamplesOf(run, &result.switched_count);
  std::array<GapCost, kClasses> costs;
  Costs known;
  costs[kHardirq] = PureInterrupt(samples, kHardirq);
  costs[kVector] = PureInterrupt(samples, kVector);
  for (Class interrupt : {kHardirq, kVector}) known[interrupt] = costs[interrupt].k_ns;
  costs[kSoftirq] = PureSoftirq(samples, known);
  known[kSoftirq] = costs[kSoftirq].k_ns;
  FitTheRest(samples, known, costs);
  result.hardirq = costs[kHardirq];
  result.vector = costs[kVector];
  result.softirq = costs[kSoftirq];
  return result;
}

std::optional<double> SwitchCost(const GapRun& run, const GapCosts& costs,
                                 const LoopLedger& ledger) {
  if (ledger.switches < kMinGapSamples) return std::nullopt;
  const std::pair<int64_t, const GapCost*> classes[] = {{ledger.hardirqs, &costs.hardirq},
                                                        {ledger.vectors, &costs.vector},
                                                        {ledger.softirqs, &costs.softirq}};
  double interrupts_ns = 0;
  for (const auto& [hits, cost] : classes) {
    if (hits == 0) continue;
    if (!cost->k_ns) return std::nullopt;
    interrupts_ns += hits * *cost->k_ns;
  }
  uint64_t gap_ticks = run.discarded_ticks;
  for (const Gap& gap : run.gaps) gap_ticks += gap.gap_ticks - run.step_ticks;
  const double had_ns = run.elapsed_ns - gap_ticks * run.ns_per_tick;
  return std::max(0.0, (ledger.own_ns - had_ns - interrupts_ns) / ledger.switches);
}

}  // namespace irqprof
