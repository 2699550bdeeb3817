#include "user/collect/collector.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "user/collect/clock.h"
#include "user/collect/proc.h"

#define ACCOUNT_CLOCK(a) 0  // the reader never stamps, it only extends
#include "bpf/account.h"

namespace irqprof {
namespace {

std::vector<int> ReadCpus(const char* which) {
  auto text = ReadTextFile(absl::StrCat("/sys/devices/system/cpu/", which));
  return text.ok() ? ParseCpuList(*text) : std::vector<int>{};
}

bool ReadGenerations(const volatile cpu_account* account, uint64_t generations[LEVELS]) {
  bool quiet = true;
  for (int level = 0; level < LEVELS; ++level) {
    generations[level] = __atomic_load_n(&account->levels[level].generation, __ATOMIC_ACQUIRE);
    quiet = quiet && generations[level] % 2 == 0;
  }
  return quiet;
}

// Everything before the lines, and the slots in use: most of a record is empty,
// and the shorter the copy, the more often it finds a quiet moment.
void CopyUsed(const volatile cpu_account* live, cpu_account* copy) {
  const auto* from = const_cast<const cpu_account*>(live);
  std::memcpy(copy, from, offsetof(cpu_account, lines));
  for (int i = 0; i < LINES; ++i)
    if (from->lines[i].used) copy->lines[i] = from->lines[i];
  for (int i = 0; i < NAPIS; ++i)
    if (from->napis[i].used) copy->napis[i] = from->napis[i];
}

CpuSnapshot ReadCpu(const BpfLedger& ledger, int cpu, uint64_t* torn) {
  const volatile cpu_account* live = ledger.Account(cpu);
  auto copy = std::make_shared<cpu_account>();
  CpuSnapshot snapshot{cpu, 0, copy};
  bool quiet = false;
  for (int attempt = 0; attempt < 100'000 && !quiet; ++attempt) {
    uint64_t before[LEVELS], after[LEVELS];
    if (!ReadGenerations(live, before)) continue;
    CopyUsed(live, copy.get());
    snapshot.at_ns = MonotonicNs();
    std::atomic_thread_fence(std::memory_order_seq_cst);
    ReadGenerations(live, after);
    quiet = std::equal(before, before + LEVELS, after);
  }
  if (!quiet) ++*torn;
  account_extend(copy.get(), snapshot.at_ns);
  return snapshot;
}

bool SameTask(const task_key& a, const task_key& b) {
  return a.pid == b.pid && a.start_time == b.start_time;
}

// The stint that is still open belongs to its task too, unless the task left
// the CPU between the two reads and its sums already hold it.
void AddOpenStint(const CpuSnapshot& cpu, Snapshot& snapshot) {
  const cpu_account& account = *cpu.account;
  const level_account& level = account.levels[LEVEL_TASK];
  if (level.start_ns == 0 || (account.running.flags & RUNNING_IDLE)) return;
  auto found = std::find_if(snapshot.tasks.begin(), snapshot.tasks.end(), [&](const auto& task) {
    return SameTask(task.key, account.running.key);
  });
  if (found == snapshot.tasks.end()) {
    TaskSnapshot fresh{account.running.key, {}, 0};
    fresh.account.charge_first = fresh.account.charge_last = account.running.charge_base;
    auto comm = ReadTextFile(absl::StrCat("/proc/", fresh.key.pid, "/comm"));
    if (comm.ok()) strncpy(fresh.account.comm, comm->c_str(), COMM_LENGTH - 1);
    if (char* end = strchr(fresh.account.comm, '\n')) *end = '\0';
    fresh.account.tgid = fresh.key.pid;
    found = snapshot.tasks.insert(snapshot.tasks.end(), fresh);
  } else if (found->account.flushed_ns > level.start_ns) {
    return;
  }
  account_stint stint{};
  stint.now_ns = cpu.at_ns;
  stint.on_cpu_ns = cpu.at_ns - level.start_ns;
  account_stint_totals(&account, &stint.totals);
  account_add_stint(&found->account, &stint);
  found->open_ns = stint.on_cpu_ns;
  account_add_thefts(&found->account, &account);
}

// Being scheduled on a CPU is an event there.
void VisitCpus(const std::vector<int>& cpus) {
  cpu_set_t before;
  if (sched_getaffinity(0, sizeof(before), &before) != 0) return;
  for (int cpu : cpus) {
    cpu_set_t one;
    CPU_ZERO(&one);
    if (cpu >= CPU_SETSIZE) continue;
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof(one), &one);
  }
  sched_setaffinity(0, sizeof(before), &before);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Collector>> Collector::Start() {
  std::vector<int> possible = ReadCpus("possible"), online = ReadCpus("online");
  if (possible.empty() || online.empty())
    return absl::FailedPreconditionError(
        "cannot read /sys/devices/system/cpu/possible and online: mount sysfs");
  auto ledger = BpfLedger::Attach(possible.back() + 1);
  if (!ledger.ok()) return ledger.status();
  (*ledger)->Arm();
  VisitCpus(online);
  return std::unique_ptr<Collector>(new Collector(std::move(*ledger), std::move(online)));
}

Snapshot Collector::TakeSelf(int cpu) const {
  for (;;) {
    Snapshot snapshot;
    snapshot.cpus.push_back(ReadCpu(*ledger_, cpu, &snapshot.torn_reads));
    const running_task& running = snapshot.cpus.front().account->running;
    if (auto task = ledger_->ReadTask(running.key, &snapshot.torn_reads))
      snapshot.tasks.push_back(*task);
    // switched out in between: the two are not of one moment
    if (ledger_->Account(cpu)->running.stint != running.stint) continue;
    AddOpenStint(snapshot.cpus.front(), snapshot);
    return snapshot;
  }
}

absl::StatusOr<Snapshot> Collector::Take(const std::vector<int>& pids) const {
  auto before = ReadKernel(pids);
  if (!before.ok()) return before.status();
  Snapshot snapshot;
  for (int cpu : online_) snapshot.cpus.push_back(ReadCpu(*ledger_, cpu, &snapshot.torn_reads));
  auto after = ReadKernel(pids);
  if (!after.ok()) return after.status();
  snapshot.kernel_before = std::move(*before);
  snapshot.kernel_after = std::move(*after);
  snapshot.tasks = ledger_->ReadTasks(&snapshot.torn_reads);
  for (const CpuSnapshot& cpu : snapshot.cpus) AddOpenStint(cpu, snapshot);
  snapshot.recursion_misses = ledger_->RecursionMisses();
  snapshot.columns_readable = ledger_->has_percpu_symbols();
  snapshot.cgroup_paths = ReadCgroupPaths();
  snapshot.nics = ReadNics();
  return snapshot;
}

HostFacts ReadHostFacts() {
  HostFacts facts;
  utsname names;
  if (uname(&names) == 0) {
    facts.kernel = names.release;
    facts.arch = names.machine;
  }
  facts.accounting = "unknown";
  facts.cpus_online = ReadCpus("online");
  return facts;
}

int64_t UserTickNs() { return 1'000'000'000 / sysconf(_SC_CLK_TCK); }

}  // namespace irqprof
