#include "user/report/figures.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "user/model/metrics.h"

namespace irqprof {

std::string Fixed(double value, int decimals) {
  if (!std::isfinite(value)) return kNotMeasured;
  std::string text = absl::StrFormat("%.*f", decimals, value);
  if (text.find_first_of("123456789") == std::string::npos && text[0] == '-') text.erase(0, 1);
  return text;
}

std::string Grouped(double value) {
  std::string text = Fixed(value, 0);
  const size_t first = text[0] == '-' ? 1 : 0;
  for (size_t end = text.size(); end > first + 3; end -= 3) text.insert(end - 3, 1, ',');
  return text;
}

std::string Percent(double share) { return Fixed(100 * share, 1); }

std::string SignedPercent(double share) {
  const std::string text = Percent(share);
  const bool zero = text.find_first_of("123456789") == std::string::npos;
  return absl::StrCat(text[0] == '-' || zero ? "" : "+", text, " %");
}

std::string Seconds(int64_t ns) { return Fixed(static_cast<double>(ns) / 1e9, 3); }

std::string Count(int64_t count, const char* one, const char* many) {
  const std::string figure = Grouped(static_cast<double>(count));
  if (count == 1 || many == nullptr) return absl::StrCat(figure, " ", one, count == 1 ? "" : "s");
  return absl::StrCat(figure, " ", many);
}

std::string MetricFigure(std::string_view metric, double value) {
  const MetricInfo* info = FindMetric(metric);
  if (info == nullptr) return absl::StrFormat("%.4g", value);
  if (info->unit.empty()) return Percent(value);
  if (info->unit == "s") return Fixed(value, 3);
  if (info->unit == "1/s") return Grouped(value);
  return Fixed(value, 2);
}

std::string MetricUnit(std::string_view metric) {
  const MetricInfo* info = FindMetric(metric);
  if (info == nullptr) return "";
  return info->unit.empty() ? "%" : std::string(info->unit);
}

Cell IntervalCell(std::string_view metric, const Interval& interval) {
  if (interval.n == 0) return {kNotMeasured};
  Cell cell{MetricFigure(metric, interval.median)};
  if (interval.n > 1)
    cell.below =
        absl::StrCat(MetricFigure(metric, interval.low), "..", MetricFigure(metric, interval.high));
  return cell;
}

}  // namespace irqprof
