#include "tests/support/cpu_event.h"

#include "absl/strings/str_cat.h"

namespace irqprof {
namespace {

CpuEvent Make(uint64_t time_ns, CpuEvent::Kind kind, uint32_t item) {
  CpuEvent event;
  event.time_ns = time_ns;
  event.kind = kind;
  event.item = item;
  return event;
}

}  // namespace

CpuEvent LineEntry(uint64_t time_ns, uint32_t irq, uint64_t action) {
  CpuEvent event = Make(time_ns, CpuEvent::kLineEntry, irq);
  event.address = action;
  return event;
}

CpuEvent LineExit(uint64_t time_ns, uint32_t irq, uint64_t action, bool handled) {
  CpuEvent event = Make(time_ns, CpuEvent::kLineExit, irq);
  event.address = action;
  event.handled = handled;
  return event;
}

CpuEvent VectorEntry(uint64_t time_ns, uint32_t vector) {
  return Make(time_ns, CpuEvent::kVectorEntry, vector);
}

CpuEvent VectorExit(uint64_t time_ns, uint32_t vector) {
  return Make(time_ns, CpuEvent::kVectorExit, vector);
}

CpuEvent SoftirqEntry(uint64_t time_ns, uint32_t vec, SoftirqRuns runs) {
  CpuEvent event = Make(time_ns, CpuEvent::kSoftirqEntry, vec);
  event.runs = runs;
  return event;
}

CpuEvent SoftirqExit(uint64_t time_ns, uint32_t vec, uint32_t pending) {
  CpuEvent event = Make(time_ns, CpuEvent::kSoftirqExit, vec);
  event.pending = pending;
  return event;
}

CpuEvent SoftirqRaise(uint64_t time_ns, uint32_t vec) {
  return Make(time_ns, CpuEvent::kSoftirqRaise, vec);
}

CpuEvent Switch(uint64_t time_ns, uint32_t prev_pid, Task next) {
  CpuEvent event = Make(time_ns, CpuEvent::kSwitch, prev_pid);
  event.next = next;
  return event;
}

CpuEvent Nmi(uint64_t time_ns, uint64_t delta_ns) {
  CpuEvent event = Make(time_ns, CpuEvent::kNmi, 0);
  event.delta_ns = delta_ns;
  return event;
}

CpuEvent Poll(uint64_t time_ns, uint64_t napi, uint32_t work, uint32_t budget) {
  CpuEvent event = Make(time_ns, CpuEvent::kPoll, 0);
  event.address = napi;
  event.work = work;
  event.budget = budget;
  return event;
}

CpuEvent Raising(CpuEvent exit, uint32_t pending, uint32_t preempt_count) {
  exit.pending = pending;
  exit.preempt_count = preempt_count;
  return exit;
}

uint64_t Get(const Sums& sums, const std::string& name) {
  auto found = sums.find(name);
  return found != sums.end() ? found->second : 0;
}

std::string LineName(uint32_t irq, uint64_t action) {
  return absl::StrCat("hardirq ", irq, "/", action);
}

std::string VectorName(uint32_t vector) { return absl::StrCat("vector ", vector); }

std::string SoftirqName(uint32_t vec, SoftirqRuns runs) {
  return absl::StrCat("softirq ", vec, runs == SoftirqRuns::kAtIrqExit ? " stolen" : " own");
}

std::string SoftirqKind(SoftirqRuns runs) {
  return runs == SoftirqRuns::kAtIrqExit ? "softirq-stolen" : "softirq-own";
}

std::string ToText(const CpuEvent& event) {
  static constexpr const char* kNames[] = {
      "line_entry",   "line_exit",     "vector_entry", "vector_exit", "softirq_entry",
      "softirq_exit", "softirq_raise", "switch",       "nmi",         "poll"};
  std::string text = absl::StrCat(event.time_ns, " ", kNames[event.kind], " ", event.item);
  if (event.address != 0) absl::StrAppend(&text, "/", event.address);
  if (event.kind == CpuEvent::kSwitch) absl::StrAppend(&text, "->", event.next.pid);
  if (event.kind == CpuEvent::kNmi) absl::StrAppend(&text, " took ", event.delta_ns);
  if (event.kind == CpuEvent::kSoftirqEntry) absl::StrAppend(&text, " ", SoftirqKind(event.runs));
  if (event.pending != 0 || event.preempt_count != 0)
    absl::StrAppend(&text, " pending=", absl::Hex(event.pending),
                    " preempt_count=", absl::Hex(event.preempt_count));
  return text;
}

std::string ToText(const std::vector<CpuEvent>& events) {
  std::string text;
  for (const CpuEvent& event : events) absl::StrAppend(&text, "  ", ToText(event), "\n");
  return text;
}

std::string Differences(const Sums& expected, const Sums& got) {
  std::string text;
  auto compare = [&](const std::string& name, bool again) {
    const uint64_t want = Get(expected, name), have = Get(got, name);
    if (want != have && !again)
      absl::StrAppend(&text, "  ", name, ": expected ", want, ", got ", have, "\n");
  };
  for (const auto& [name, value] : expected) compare(name, false);
  for (const auto& [name, value] : got) compare(name, expected.count(name) != 0);
  return text;
}

}  // namespace irqprof
