#include "tests/support/event_oracle.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace irqprof {
namespace {

int HistogramSlot(uint64_t ns) {
  int slot = 0;
  while (ns > 1) {
    ns /= 2;
    ++slot;
  }
  return std::min(slot, 31);
}

}  // namespace

void EventOracle::Feed(const CpuEvent& event) {
  if (event.kind == CpuEvent::kNmi) return TakeNmi(event);
  PassTime(event.time_ns);
  switch (event.kind) {
    case CpuEvent::kLineEntry:
      return Enter({"hardirq", LineName(event.item, event.address), now_ns_, true});
    case CpuEvent::kLineExit:
      return Exit(LineName(event.item, event.address), event.handled);
    case CpuEvent::kVectorEntry:
      return Enter({"vector", VectorName(event.item), now_ns_, true});
    case CpuEvent::kVectorExit:
      return Exit(VectorName(event.item), false);
    case CpuEvent::kSoftirqEntry:
      return Enter({SoftirqKind(event.runs), SoftirqName(event.item, event.runs), now_ns_,
                    event.runs == SoftirqRuns::kAtIrqExit});
    case CpuEvent::kSoftirqExit: {
      const std::string own = SoftirqName(event.item, SoftirqRuns::kInTask);
      const bool is_own = !stack_.empty() && stack_.back().item == own;
      return Exit(is_own ? own : SoftirqName(event.item, SoftirqRuns::kAtIrqExit), false);
    }
    case CpuEvent::kSwitch:
      if (!stack_.empty() || event.item != running_.pid) ++sums_["illegal"];
      CountForTask("switches", 1);
      running_ = event.next;
      return;
    case CpuEvent::kPoll:
      return FinishPoll(event);
    case CpuEvent::kNmi:
    case CpuEvent::kSoftirqRaise:
      return;
  }
}

void EventOracle::Enter(Context context) {
  const bool in_interrupt =
      !stack_.empty() && (stack_.back().kind == "hardirq" || stack_.back().kind == "vector");
  const bool both_softirqs = !stack_.empty() && context.kind.find("softirq") == 0;
  if (in_interrupt || both_softirqs) ++sums_["illegal"];
  stack_.push_back(std::move(context));
}

void EventOracle::Exit(const std::string& item, bool handled) {
  if (stack_.empty() || stack_.back().item != item) {
    ++sums_["illegal"];
    return;
  }
  const Context context = stack_.back();
  stack_.pop_back();
  const uint64_t total_ns = now_ns_ - context.start_ns;
  CountEnd(context.kind);
  ++sums_[item + " count"];
  ++sums_[absl::StrCat(item, " hist ", HistogramSlot(total_ns))];
  sums_[item + " total"] += total_ns;
  sums_[item + " max"] = std::max(sums_[item + " max"], total_ns);
  if (handled) ++sums_[item + " handled"];
}

// To be called when the context is off the stack. An NMI hits wherever it lands.
void EventOracle::CountEnd(const std::string& kind) {
  ++sums_["count " + kind];
  const bool inside_softirq = !stack_.empty() && stack_.back().kind.find("softirq") == 0;
  if (inside_softirq && kind != "nmi") return;
  ++sums_["hits " + kind];
  CountForTask(kind + " hits", 1);
}

void EventOracle::FinishPoll(const CpuEvent& event) {
  const bool in_net_rx =
      !stack_.empty() && stack_.back().item.find(absl::StrCat("softirq ", kNetRx, " ")) == 0;
  const bool in_thread = running_.kind == Task::kKthread || running_.kind == Task::kKsoftirqd;
  const std::string name = absl::StrCat("napi ", event.address, " in ",
                                        in_net_rx   ? "softirq"
                                        : in_thread ? "thread"
                                                    : "task",
                                        " ");
  ++sums_[name + "polls"];
  sums_[name + "packets"] += event.work;
  if (event.budget != 0 && event.work >= event.budget) ++sums_[name + "exhausted"];
  if (!in_net_rx) return;
  sums_[name + "self"] += stack_.back().since_poll_ns;
  stack_.back().since_poll_ns = 0;
}

// The last delta_ns before the event were the NMI's.
void EventOracle::TakeNmi(const CpuEvent& event) {
  if (event.delta_ns > event.time_ns - now_ns_) ++sums_["illegal"];
  PassTime(event.time_ns - event.delta_ns);
  Spend("nmi", "", true, event.delta_ns);
  CountEnd("nmi");
  now_ns_ = event.time_ns;
}

void EventOracle::PassTime(uint64_t until_ns) {
  if (until_ns < now_ns_) ++sums_["illegal"];
  const uint64_t ns = until_ns - now_ns_;
  now_ns_ = until_ns;
  if (stack_.empty()) {
    sums_[running_.kind == Task::kIdle ? "idle" : "task"] += ns;
    CountForTask("on_cpu", ns);
  } else {
    Context& innermost = stack_.back();
    innermost.since_poll_ns += ns;
    Spend(innermost.kind, innermost.item, innermost.steals, ns);
  }
}

void EventOracle::Spend(const std::string& kind, const std::string& item, bool steals,
                        uint64_t ns) {
  sums_["self " + kind] += ns;
  CountForTask("on_cpu", ns);
  CountForTask(kind + " ns", ns);
  if (item.empty()) return;
  sums_[item + " self"] += ns;
  if (steals && running_.kind != Task::kIdle)
    sums_[absl::StrCat("theft ", running_.pid, " ", item)] += ns;
}

void EventOracle::CountForTask(const std::string& what, uint64_t number) {
  if (running_.kind != Task::kIdle) sums_[absl::StrCat("task ", running_.pid, " ", what)] += number;
}

Sums EventOracle::At(uint64_t now_ns) const {
  EventOracle copy = *this;
  copy.PassTime(now_ns);
  for (const Context& open : copy.stack_)
    copy.sums_[open.item + " total"] += now_ns - open.start_ns;
  std::erase_if(copy.sums_, [](const auto& sum) { return sum.second == 0; });
  return copy.sums_;
}

}  // namespace irqprof
