#include "tests/support/account_replay.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace irqprof {
namespace {

constexpr const char* kTotalKinds[TOTALS] = {"hardirq", "vector", "softirq-stolen", "softirq-own",
                                             "nmi"};

void SetRunning(running_task& running, Task task) {
  running.key.pid = task.pid;
  running.key.start_time = task.pid;
  running.flags = task.kind == Task::kIdle        ? RUNNING_IDLE
                  : task.kind == Task::kKthread   ? RUNNING_KTHREAD
                  : task.kind == Task::kKsoftirqd ? RUNNING_KTHREAD | RUNNING_KSOFTIRQD
                                                  : 0;
}

account_level LevelOf(CpuEvent::Kind kind) {
  switch (kind) {
    case CpuEvent::kSwitch:
      return LEVEL_TASK;
    case CpuEvent::kSoftirqEntry:
    case CpuEvent::kSoftirqExit:
    case CpuEvent::kSoftirqRaise:
    case CpuEvent::kPoll:
      return LEVEL_SOFTIRQ;
    case CpuEvent::kNmi:
      return LEVEL_NMI;
    default:
      return LEVEL_HARDIRQ;
  }
}

void AddBucket(interrupt_total total, const std::string& item, const bucket& bucket, Sums& sums) {
  sums[absl::StrCat("count ", kTotalKinds[total])] += bucket.count;
  sums[item + " self"] += bucket.self_ns;
  sums[item + " total"] += bucket.total_ns;
  sums[item + " count"] += bucket.count;
  sums[item + " max"] = std::max<uint64_t>(sums[item + " max"], bucket.max_ns);
  for (int slot = 0; slot < HIST_SLOTS; ++slot)
    if (bucket.hist[slot] != 0) sums[absl::StrCat(item, " hist ", slot)] += bucket.hist[slot];
}

std::string NameOfLine(const cpu_account& account, uint32_t slot) {
  const line_account& line = account.lines[slot];
  return slot == LINES - 1 ? "hardirq rest" : LineName(line.irq, line.action);
}

void AddItems(const cpu_account& account, Sums& sums) {
  for (int i = 0; i < LINES; ++i) {
    if (!account.lines[i].used) continue;
    AddBucket(TOTAL_HARDIRQ, NameOfLine(account, i), account.lines[i].bucket, sums);
    sums[NameOfLine(account, i) + " handled"] += account.lines[i].handled_count;
  }
  for (int i = 0; i < VECTORS; ++i)
    AddBucket(TOTAL_VECTOR, VectorName(i), account.vectors[i], sums);
  for (int i = 0; i < SOFTIRQS; ++i) {
    AddBucket(TOTAL_SOFTIRQ_STOLEN, SoftirqName(i, SoftirqRuns::kAtIrqExit),
              account.softirqs[i][PLACE_IRQ_EXIT], sums);
    AddBucket(TOTAL_SOFTIRQ_OWN, SoftirqName(i, SoftirqRuns::kInTask),
              account.softirqs[i][PLACE_TASK], sums);
  }
}

void AddNapis(const cpu_account& account, Sums& sums) {
  static constexpr const char* kPlaces[NAPI_PLACES] = {"softirq", "thread", "task"};
  for (const napi_account& napi : account.napis)
    for (int place = 0; place < NAPI_PLACES; ++place) {
      if (!napi.used) continue;
      const std::string name = absl::StrCat("napi ", napi.napi, " in ", kPlaces[place], " ");
      sums[name + "polls"] += napi.work[place].polls;
      sums[name + "packets"] += napi.work[place].packets;
      sums[name + "exhausted"] += napi.work[place].budget_exhausted;
      sums[name + "self"] += napi.work[place].self_ns;
    }
}

void AddTask(uint32_t pid, const task_account& task, Sums& sums) {
  const std::string name = absl::StrCat("task ", pid, " ");
  sums[name + "on_cpu"] += task.on_cpu_ns;
  sums[name + "switches"] += task.switches;
  for (int i = 0; i < TOTALS; ++i) {
    sums[absl::StrCat(name, kTotalKinds[i], " ns")] += task.totals.ns[i];
    sums[absl::StrCat(name, kTotalKinds[i], " hits")] += task.totals.hits[i];
  }
  const std::string theft = absl::StrCat("theft ", pid, " ");
  for (int i = 0; i < VECTORS; ++i) sums[theft + VectorName(i)] += task.vector_thefts[i];
  for (int i = 0; i < SOFTIRQS; ++i)
    sums[theft + SoftirqName(i, SoftirqRuns::kAtIrqExit)] += task.softirq_thefts[i];
  for (int i = 0; i < TASK_LINES; ++i) {
    const line_theft& line = task.line_thefts[i];
    const bool rest = i == TASK_LINES - 1 || line.action == 0;
    sums[theft + (rest ? "hardirq rest" : LineName(line.irq, line.action))] += line.ns;
  }
}

}  // namespace

FakeClock& FakeClock::Get() {
  static FakeClock clock;
  return clock;
}

uint64_t FakeClock::Read() {
  if (in_hook_) return now_ns;
  in_hook_ = true;
  if (before_read) before_read();
  last_read_ns = now_ns;
  const uint64_t value = now_ns;
  if (after_read) after_read();
  in_hook_ = false;
  return value;
}

AccountReplay::AccountReplay(uint64_t began_ns, Task running, bool counted)
    : account_(std::make_unique<cpu_account>()), counted_(counted) {
  FakeClock::Get() = FakeClock();
  SetRunning(account_->running, running);
  account_begin(account_.get(), began_ns);
}

void AccountReplay::Feed(const CpuEvent& event) {
  FakeClock& clock = FakeClock::Get();
  clock.now_ns = std::max(clock.now_ns, event.time_ns);
  const account_level interrupted = clock.reader;
  clock.reader = LevelOf(event.kind);
  switch (event.kind) {
    case CpuEvent::kLineEntry:
    case CpuEvent::kLineExit:
      FeedLine(event);
      break;
    case CpuEvent::kVectorEntry:
    case CpuEvent::kVectorExit:
      FeedVector(event);
      break;
    case CpuEvent::kSoftirqEntry:
    case CpuEvent::kSoftirqExit:
    case CpuEvent::kSoftirqRaise:
      FeedSoftirq(event);
      break;
    case CpuEvent::kSwitch:
      FeedSwitch(event);
      break;
    case CpuEvent::kNmi:
      account_nmi(account_.get(), event.delta_ns);
      break;
    case CpuEvent::kPoll: {
      int fresh;
      account_napi_poll(account_.get(), event.address, event.work, event.budget, &fresh);
      break;
    }
  }
  clock.reader = interrupted;
}

// As irq_ended() in bpf/ledger.bpf.c.
void AccountReplay::InterruptEnded(const CpuEvent& event) {
  if (account_->levels[LEVEL_SOFTIRQ].start_ns != 0) return;
  if (counted_)
    account_irq_exit_counted(account_.get(), event.preempt_count, event.pending);
  else
    account_irq_exit_guessed(account_.get());
}

void AccountReplay::FeedLine(const CpuEvent& event) {
  if (event.kind == CpuEvent::kLineEntry) {
    int fresh;
    const uint32_t slot =
        account_line_entry(account_.get(), event.item, event.address, &fresh) & (LINES - 1);
    if (fresh)
      snprintf(account_->lines[slot].name, NAME_LENGTH, "line%u", static_cast<unsigned>(slot));
  } else {
    InterruptEnded(event);
    account_line_exit(account_.get(), event.item, event.address, event.handled);
  }
}

void AccountReplay::FeedVector(const CpuEvent& event) {
  if (event.kind == CpuEvent::kVectorEntry) {
    account_vector_entry(account_.get(), event.item);
  } else {
    InterruptEnded(event);
    account_vector_exit(account_.get(), event.item);
  }
}

void AccountReplay::FeedSoftirq(const CpuEvent& event) {
  const uint32_t bit = 1u << event.item;
  if (event.kind == CpuEvent::kSoftirqEntry) {
    account_softirq_entry(account_.get(), event.item, counted_);
    account_->raised &= ~bit;
  } else if (event.kind == CpuEvent::kSoftirqExit) {
    account_softirq_exit(account_.get(), event.item, counted_ ? event.pending : account_->raised);
  } else {
    account_->raised |= bit;
  }
}

void AccountReplay::FeedSwitch(const CpuEvent& event) {
  account_stint stint;
  running_task& running = account_->running;
  account_switch_out(account_.get(), &stint);
  if (!(running.flags & RUNNING_IDLE)) {
    task_account& task = tasks_[running.key.pid];
    account_add_stint(&task, &stint);
    account_add_thefts(&task, account_.get());
    ++task.switches;
  }
  SetRunning(running, event.next);
  account_switch_in(account_.get());
}

void AccountReplay::AddOpenStint(const cpu_account& extended, uint64_t now_ns, Sums& sums) const {
  const running_task& running = extended.running;
  if (running.flags & RUNNING_IDLE) return;
  account_stint stint{};
  stint.now_ns = now_ns;
  stint.on_cpu_ns = now_ns - extended.levels[LEVEL_TASK].start_ns;
  account_stint_totals(&extended, &stint.totals);
  task_account open{};
  account_add_stint(&open, &stint);
  account_add_thefts(&open, &extended);
  AddTask(running.key.pid, open, sums);
}

Sums AccountReplay::At(uint64_t now_ns) const {
  auto extended = std::make_unique<cpu_account>(*account_);
  account_extend(extended.get(), now_ns);
  Sums sums;
  sums["idle"] = extended->idle_ns;
  sums["task"] = extended->task_ns;
  for (int i = 0; i < TOTALS; ++i) {
    sums[absl::StrCat("self ", kTotalKinds[i])] = extended->totals.ns[i];
    sums[absl::StrCat("hits ", kTotalKinds[i])] = extended->totals.hits[i];
  }
  sums["count nmi"] = extended->totals.hits[TOTAL_NMI];
  AddItems(*extended, sums);
  AddNapis(*extended, sums);
  for (const auto& [pid, task] : tasks_) AddTask(pid, task, sums);
  AddOpenStint(*extended, now_ns, sums);
  std::erase_if(sums, [](const auto& sum) { return sum.second == 0; });
  return sums;
}

uint64_t AccountReplay::Losses() const {
  uint64_t sum = 0;
  for (uint64_t count : account_->losses) sum += count;
  return sum;
}

uint64_t AccountReplay::LevelSum(uint64_t now_ns) const {
  auto extended = std::make_unique<cpu_account>(*account_);
  account_extend(extended.get(), now_ns);
  uint64_t sum = 0;
  for (const level_account& level : extended->levels) sum += level.net_ns;
  return sum;
}

}  // namespace irqprof
