#include "user/report/finding_text.h"

#include <algorithm>
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

// One who has some of the hidden time; below 0 one whose own time is charged as
// somebody else's, or shown as an interrupt.
struct Holder {
  double share;
  std::string place;  // "charged to the stream"
  std::string owner;  // "the stream's"
};

std::vector<Holder> Holders(const HiddenSplit& split, const std::string& overfull_column) {
  std::string competitor = "to the competitor";
  if (split.to_competitor_sys > -kShown)
    absl::StrAppend(&competitor, " (", Percent(split.to_competitor_user), " user, ",
                    Percent(split.to_competitor_sys), " sys)");
  std::vector<Holder> holders = {
      {split.to_competitor_user + split.to_competitor_sys, competitor, "the competitor's"},
      {split.to_stream, "to the stream", "the stream's"},
      {split.to_idle, "to idle", "idle"},
      // Also where the rounding of ticks ends up: it accuses nobody.
      {split.elsewhere, "elsewhere", "other"}};
  for (Holder& holder : holders) {
    if (!Shown(holder.share) || holder.share < 0) continue;
    holder.place = "charged " + holder.place;  // said once
    break;
  }
  const std::string shown =
      overfull_column.empty() ? "in the other interrupt column" : "as " + overfull_column;
  holders.insert(holders.begin(), {split.to_other_column, "shown " + shown, ""});
  return holders;
}

// Who has the hidden time. Where they have more than that, the rest was no
// interrupt but somebody's own: hidden + owned = sum of the places, and no part
// has to be printed with a minus sign.
std::string SplitText(const HiddenSplit& split, const std::string& overfull_column) {
  std::vector<std::string> places;
  std::vector<std::string> owners;
  double owned = 0;
  for (const Holder& holder : Holders(split, overfull_column)) {
    owned += std::max(-holder.share, 0.0);
    if (!Shown(holder.share)) continue;
    if (holder.share > 0) {
      places.push_back(absl::StrCat(Percent(holder.share), " % ", holder.place));
    } else {
      owners.push_back(absl::StrCat(Percent(-holder.share), " ", holder.owner));
    }
  }
  if (places.empty()) return "";
  const bool hidden = Shown(split.hidden);
  std::string text = absl::StrCat(hidden ? ": " : "; ", absl::StrJoin(places, ", "));
  if (!owners.empty())
    absl::StrAppend(&text, "; ", hidden ? Percent(owned) + " %" : "all",
                    " of that was no interrupt (", absl::StrJoin(owners, ", "), ")");
  return text;
}

std::string HiddenText(double hidden) {
  return Shown(hidden) ? absl::StrCat(Percent(hidden), " % hidden") : "nothing hidden";
}

// Seconds the competitor worked: its own time less the unobserved, where that is known.
double OwnWork(const Arm& arm) {
  return ArmInterval(arm, "competitor_own_s").median -
         ArmInterval(arm, "competitor_unobserved_s").median;
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
  return absl::StrCat(text, HiddenText(split->hidden), SplitText(*split, OverfullColumn(arm)));
}

std::string ChargeText(const Arm& arm) {
  const Interval own = ArmInterval(arm, "competitor_own_s");
  const Interval user = ArmInterval(arm, "competitor_user_s");
  const Interval sys = ArmInterval(arm, "competitor_sys_s");
  if (own.n == 0 || user.n == 0 || sys.n == 0) return "";
  return absl::StrCat("the kernel charged the competitor ", Fixed(user.median + sys.median, 3),
                      " s (", Fixed(user.median, 3), " user, ", Fixed(sys.median, 3), " sys) for ",
                      Fixed(OwnWork(arm), 3), " s of own work");
}

std::string ProofText(const Arm& arm) {
  const Interval alone = ArmInterval(arm, "competitor_alone_s");
  const Interval own = ArmInterval(arm, "competitor_own_s");
  if (alone.n == 0 || alone.median <= 0 || own.n == 0) return "";
  const Interval unobserved = ArmInterval(arm, "competitor_unobserved_s");
  std::string text = absl::StrCat("own ", Fixed(own.median, 3), " s");
  if (unobserved.n > 0)
    absl::StrAppend(&text, " less unobserved ", Fixed(unobserved.median, 3), " s is ",
                    Fixed(OwnWork(arm), 3), " s");
  return absl::StrCat(text, "; the same work alone ", Fixed(alone.median, 3), " s (",
                      SignedPercent(OwnWork(arm) / alone.median - 1), ")");
}

}  // namespace irqprof
