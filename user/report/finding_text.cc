#include "user/report/finding_text.h"

#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "user/report/arm_figures.h"
#include "user/report/figures.h"

namespace irqprof {
namespace {

constexpr double kShown = 0.0005;  // 0.05 %: what rounds to 0.1 % or more

bool Shown(double share) { return std::abs(share) >= kShown; }

// Where the hidden time went, and where the kernel booked as interrupts what was none.
std::string SplitText(const HiddenSplit& split) {
  std::vector<std::string> gave;
  std::vector<std::string> took;
  const auto add = [&](double share, const std::string& charged, const std::string& from) {
    if (!Shown(share)) return;
    if (share > 0) gave.push_back(absl::StrCat(Percent(share), " % ", charged));
    if (share < 0) took.push_back(absl::StrCat(Percent(-share), " % taken from ", from));
  };
  add(split.to_other_column, "shown in the other interrupt column", "it");
  const double competitor = split.to_competitor_user + split.to_competitor_sys;
  add(competitor,
      absl::StrCat("charged to the competitor (", Percent(split.to_competitor_user), " user, ",
                   Percent(split.to_competitor_sys), " sys)"),
      "the competitor");
  add(split.to_stream, gave.empty() ? "charged to the stream" : "to the stream", "the stream");
  add(split.to_idle, "to idle", "idle");
  // Also where the rounding of ticks ends up, so a negative rest accuses nobody.
  if (Shown(split.elsewhere))
    gave.push_back(absl::StrCat(Percent(split.elsewhere), " % elsewhere"));
  std::string text = absl::StrJoin(gave, ", ");
  if (!took.empty())
    absl::StrAppend(&text, text.empty() ? "" : "; ", "over-counted: ", absl::StrJoin(took, ", "));
  return text;
}

std::string HiddenText(double hidden) {
  return Shown(hidden) ? absl::StrCat(Percent(hidden), " % hidden") : "nothing hidden";
}

}  // namespace

std::string FindingText(const Arm& arm, bool tainted) {
  const Interval exact = ArmInterval(arm, "interrupt_share");
  const Interval kernel = ArmInterval(arm, "kernel_interrupt_share");
  if (exact.n == 0) return "interrupt time was not measured";
  std::string text = absl::StrCat(tainted ? "measured at least " : "exact ", Percent(exact.median),
                                  " % interrupts");
  if (kernel.n == 0) return text + "; the kernel shows no interrupt columns to compare";
  absl::StrAppend(&text, ", the kernel's columns show ", Percent(kernel.median), " %; ");
  const std::optional<HiddenSplit> split = ArmHiddenSplit(arm);
  if (!split)
    return absl::StrCat(text, HiddenText(ArmInterval(arm, "hidden_share").median),
                        "; where it went is not known: this kernel lets no program read whom its "
                        "columns charged");
  const std::string parts = SplitText(*split);
  return absl::StrCat(text, HiddenText(split->hidden), parts.empty() ? "" : ": ", parts);
}

std::string ProofText(const Arm& arm) {
  const Interval alone = ArmInterval(arm, "competitor_alone_s");
  const Interval own = ArmInterval(arm, "competitor_own_s");
  const Interval user = ArmInterval(arm, "competitor_user_s");
  const Interval sys = ArmInterval(arm, "competitor_sys_s");
  if (alone.n == 0 || alone.median <= 0 || own.n == 0 || user.n == 0 || sys.n == 0) return "";
  const Interval unobserved = ArmInterval(arm, "competitor_unobserved_s");
  const double own_s = own.median - unobserved.median;
  const double charged_s = user.median + sys.median;
  return absl::StrCat("the same work alone takes ", Fixed(alone.median, 3), " s; own time",
                      unobserved.n > 0 ? " less the unobserved" : "", " is ", Fixed(own_s, 3),
                      " s, ", SignedPercent(own_s / alone.median - 1),
                      "; user + sys as charged is ", Fixed(charged_s, 3), " s, ",
                      SignedPercent(charged_s / alone.median - 1));
}

}  // namespace irqprof
