#include "user/model/ledger.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

#include "user/model/names.h"

namespace irqprof {
namespace {

const CpuSnapshot* FindCpu(const Snapshot& snapshot, int cpu) {
  for (const CpuSnapshot& candidate : snapshot.cpus)
    if (candidate.cpu == cpu) return &candidate;
  return nullptr;
}

std::string FixedString(const char* text, size_t size) {
  return std::string(text, strnlen(text, size));
}

CpuRow SubtractCpu(const CpuSnapshot& earlier, const CpuSnapshot& later) {
  const cpu_account& a = *earlier.account;
  const cpu_account& b = *later.account;
  auto gained = [&](interrupt_total total) {
    return static_cast<int64_t>(b.totals.ns[total] - a.totals.ns[total]);
  };
  CpuRow row;
  row.cpu = later.cpu;
  row.elapsed_ns = later.at_ns - earlier.at_ns;
  row.self.idle_ns = b.idle_ns - a.idle_ns;
  row.self.task_ns = b.task_ns - a.task_ns;
  row.self.softirq_ns = gained(TOTAL_SOFTIRQ_STOLEN) + gained(TOTAL_SOFTIRQ_OWN);
  row.self.hardirq_ns = gained(TOTAL_HARDIRQ);
  row.self.vector_ns = gained(TOTAL_VECTOR);
  row.self.nmi_ns = gained(TOTAL_NMI);
  row.unattributed_ns = row.elapsed_ns - row.self.Sum();
  return row;
}

void AddBucket(bucket& sum, const bucket& other, int sign) {
  sum.count += sign * other.count;
  sum.self_ns += sign * other.self_ns;
  sum.total_ns += sign * other.total_ns;
  sum.max_ns = std::max(sum.max_ns, other.max_ns);  // of the whole recording
  for (int slot = 0; slot < HIST_SLOTS; ++slot) sum.hist[slot] += sign * other.hist[slot];
}

ContextRow MakeContext(int cpu, const char* kind, std::string name, const bucket& gained) {
  ContextRow row;
  row.cpu = cpu;
  row.kind = kind;
  row.name = std::move(name);
  row.count = gained.count;
  row.self_ns = gained.self_ns;
  row.total_ns = gained.total_ns;
  row.max_ns = gained.max_ns;
  for (int slot = 0; slot < HIST_SLOTS; ++slot)
    if (gained.hist[slot] != 0)
      row.hist_ns.emplace_back(int64_t{1} << (slot + 1), gained.hist[slot]);
  return row;
}

void AppendContexts(const CpuSnapshot& earlier, const CpuSnapshot& later,
                    const std::vector<NicFact>& nics, std::vector<ContextRow>& rows) {
  const cpu_account& a = *earlier.account;
  const cpu_account& b = *later.account;
  auto append = [&](ContextRow row) {
    if (row.count != 0 || row.self_ns != 0) rows.push_back(std::move(row));
  };
  for (int i = 0; i < LINES; ++i) {
    if (!b.lines[i].used) continue;
    bucket gained = b.lines[i].bucket;
    AddBucket(gained, a.lines[i].bucket, -1);
    std::string name =
        i == LINES - 1 ? "(other lines)" : FixedString(b.lines[i].name, sizeof(b.lines[i].name));
    ContextRow row = MakeContext(later.cpu, "hardirq", name, gained);
    if (i != LINES - 1) row.irq = b.lines[i].irq;
    const NicFact* nic = row.irq ? NicOfLine(nics, *row.irq, name) : nullptr;
    if (nic != nullptr) {
      row.netdev = nic->netdev;
      row.driver = nic->driver;
    }
    append(std::move(row));
  }
  for (int i = 0; i < VECTORS; ++i) {
    bucket gained = b.vectors[i];
    AddBucket(gained, a.vectors[i], -1);
    append(MakeContext(later.cpu, "vector", kVectorNames[i], gained));
  }
  for (int i = 0; i < SOFTIRQS; ++i) {
    bucket gained{};
    for (int place = 0; place < SOFTIRQ_PLACES; ++place) {
      AddBucket(gained, b.softirqs[i][place], 1);
      AddBucket(gained, a.softirqs[i][place], -1);
    }
    append(MakeContext(later.cpu, "softirq", kSoftirqNames[i], gained));
  }
}

std::string DriverOf(const std::vector<NicFact>& nics, const std::string& netdev) {
  for (const NicFact& nic : nics)
    if (nic.netdev == netdev) return nic.driver;
  return "";
}

void AppendNapi(const CpuSnapshot& earlier, const CpuSnapshot& later,
                const std::vector<NicFact>& nics, std::vector<NapiRow>& rows) {
  static constexpr const char* kPlaces[NAPI_PLACES] = {"softirq", "thread", "busy_poll"};
  for (int i = 0; i < NAPIS; ++i) {
    const napi_account& a = earlier.account->napis[i];
    const napi_account& b = later.account->napis[i];
    for (int place = 0; place < NAPI_PLACES; ++place) {
      NapiRow row;
      row.cpu = later.cpu;
      row.polls = b.work[place].polls - a.work[place].polls;
      if (row.polls == 0) continue;
      row.packets = b.work[place].packets - a.work[place].packets;
      row.budget_exhausted = b.work[place].budget_exhausted - a.work[place].budget_exhausted;
      if (place == NAPI_IN_SOFTIRQ) row.self_ns = b.work[place].self_ns - a.work[place].self_ns;
      row.where = kPlaces[place];
      row.netdev = FixedString(b.netdev, sizeof(b.netdev));
      if (row.netdev.empty()) row.netdev = i == NAPIS - 1 ? "(other devices)" : "backlog";
      row.driver = DriverOf(nics, row.netdev);
      rows.push_back(std::move(row));
    }
  }
}

using TaskId = std::tuple<uint64_t, uint32_t>;
TaskId IdOf(const task_key& key) { return {key.start_time, key.pid}; }

std::string CgroupName(const Snapshot& snapshot, uint64_t id) {
  auto found = snapshot.cgroup_paths.find(id);
  return found != snapshot.cgroup_paths.end() ? found->second : "id:" + std::to_string(id);
}

TaskRow SubtractTask(const task_account& a, const task_account& b, const task_key& key,
                     const Snapshot& later) {
  auto ns = [&](interrupt_total total) {
    return static_cast<int64_t>(b.totals.ns[total] - a.totals.ns[total]);
  };
  auto count = [&](interrupt_total total) {
    return static_cast<int64_t>(b.totals.hits[total] - a.totals.hits[total]);
  };
  TaskRow row;
  row.pid = key.pid;
  row.tgid = b.tgid;
  row.comm = FixedString(b.comm, sizeof(b.comm));
  row.cgroup = CgroupName(later, b.cgroup_id);
  row.on_cpu_ns = b.on_cpu_ns - a.on_cpu_ns;
  row.stolen = {ns(TOTAL_HARDIRQ), ns(TOTAL_VECTOR), ns(TOTAL_SOFTIRQ_STOLEN), ns(TOTAL_NMI)};
  row.own_ns = row.on_cpu_ns - row.stolen.Sum();
  row.own_softirq_ns = ns(TOTAL_SOFTIRQ_OWN);
  row.hits = {count(TOTAL_HARDIRQ), count(TOTAL_VECTOR), count(TOTAL_SOFTIRQ_STOLEN)};
  row.switches = b.switches - a.switches;
  // A task not seen before starts from its first sight, not from zero.
  const kernel_charge& base = a.switches != 0 ? a.charge_last : b.charge_first;
  row.kernel.utime_ns = b.charge_last.utime_ns - base.utime_ns;
  row.kernel.stime_ns = b.charge_last.stime_ns - base.stime_ns;
  row.kernel.runtime_ns = b.charge_last.runtime_ns - base.runtime_ns;
  if (later.columns_readable) {
    auto column = [&](kernel_column c) {
      return static_cast<int64_t>(b.columns[c] - a.columns[c]);
    };
    row.kernel.columns = {column(COLUMN_USER) + column(COLUMN_NICE), column(COLUMN_SYSTEM),
                          column(COLUMN_SOFTIRQ), column(COLUMN_IRQ)};
  }
  return row;
}

using LineNames = std::map<std::pair<uint32_t, uint64_t>, std::string>;

LineNames NamesOfLines(const Snapshot& snapshot) {
  LineNames names;
  for (const CpuSnapshot& cpu : snapshot.cpus)
    for (const line_account& line : cpu.account->lines)
      if (line.used && line.action != 0)
        names[{line.irq, line.action}] = FixedString(line.name, sizeof(line.name));
  return names;
}

std::vector<TheftRow> SubtractThefts(const task_account& a, const task_account& b,
                                     const LineNames& names) {
  std::vector<TheftRow> rows;
  auto append = [&](const char* kind, const std::string& name, uint64_t before, uint64_t after) {
    if (after != before) rows.push_back({kind, name, static_cast<int64_t>(after - before)});
  };
  for (int i = 0; i < VECTORS; ++i)
    append("vector", kVectorNames[i], a.vector_thefts[i], b.vector_thefts[i]);
  for (int i = 0; i < SOFTIRQS; ++i)
    append("softirq", kSoftirqNames[i], a.softirq_thefts[i], b.softirq_thefts[i]);
  for (int i = 0; i < TASK_LINES; ++i) {
    const line_theft& line = b.line_thefts[i];
    auto name = names.find({line.irq, line.action});
    bool rest = i == TASK_LINES - 1 || name == names.end();
    append("hardirq", rest ? "(other lines)" : name->second, a.line_thefts[i].ns, line.ns);
  }
  std::sort(rows.begin(), rows.end(),
            [](const TheftRow& x, const TheftRow& y) { return x.ns > y.ns; });
  return rows;
}

void AppendTasks(const Snapshot& earlier, const Snapshot& later, std::vector<TaskRow>& rows) {
  std::map<TaskId, const TaskSnapshot*> before;
  for (const TaskSnapshot& task : earlier.tasks) before[IdOf(task.key)] = &task;
  const LineNames line_names = NamesOfLines(later);
  static const TaskSnapshot kNone{};
  for (const TaskSnapshot& task : later.tasks) {
    auto found = before.find(IdOf(task.key));
    const TaskSnapshot& base = found != before.end() ? *found->second : kNone;
    if (task.account.on_cpu_ns == base.account.on_cpu_ns) continue;
    TaskRow row = SubtractTask(base.account, task.account, task.key, later);
    row.kernel.slack_ns = base.open_ns + task.open_ns;
    row.stolen_by = SubtractThefts(base.account, task.account, line_names);
    rows.push_back(std::move(row));
  }
  std::sort(rows.begin(), rows.end(), [](const TaskRow& x, const TaskRow& y) {
    return std::tie(y.on_cpu_ns, x.pid) < std::tie(x.on_cpu_ns, y.pid);
  });
}

// A column may step back (iowait, steal): that is no time, not a huge one.
std::optional<int64_t> ColumnGain(const ProcStatCpu& a, const ProcStatCpu& b,
                                  ProcStatCpu::Column column, int64_t tick_ns) {
  if (!a.ticks[column] || !b.ticks[column]) return std::nullopt;
  int64_t gain = static_cast<int64_t>(*b.ticks[column] - *a.ticks[column]);
  return std::max<int64_t>(gain, 0) * tick_ns;
}

void AppendKernelCpu(const ProcStat& earlier, const ProcStatCpu& later, int64_t tick_ns,
                     KernelLedger& ledger) {
  for (const ProcStatCpu& a : earlier.cpus) {
    if (a.cpu != later.cpu) continue;
    auto gain = [&](ProcStatCpu::Column column) { return ColumnGain(a, later, column, tick_ns); };
    KernelCpuRow row;
    row.cpu = a.cpu;
    row.user_ns = gain(ProcStatCpu::kUser).value_or(0);
    row.nice_ns = gain(ProcStatCpu::kNice).value_or(0);
    row.system_ns = gain(ProcStatCpu::kSystem).value_or(0);
    row.idle_ns = gain(ProcStatCpu::kIdle).value_or(0);
    row.iowait_ns = gain(ProcStatCpu::kIowait).value_or(0);
    row.irq_ns = gain(ProcStatCpu::kIrq);
    row.softirq_ns = gain(ProcStatCpu::kSoftirq);
    row.steal_ns = gain(ProcStatCpu::kSteal);
    ledger.cpus.push_back(row);
  }
}

}  // namespace

const NicFact* NicOfLine(const std::vector<NicFact>& nics, int irq, const std::string& action) {
  auto has = [&](const std::vector<int>& lines) {
    return std::find(lines.begin(), lines.end(), irq) != lines.end();
  };
  for (const NicFact& nic : nics) {
    if (has(nic.msi)) return &nic;
    bool named = action.compare(0, nic.netdev.size(), nic.netdev) == 0 &&
                 (action.size() == nic.netdev.size() ||
                  !isalnum(static_cast<unsigned char>(action[nic.netdev.size()])));
    if (has(nic.intx) && named) return &nic;
  }
  return nullptr;
}

Profile BuildProfile(const Snapshot& earlier, const Snapshot& later, const HostFacts& host,
                     int64_t tick_ns) {
  Profile profile;
  profile.host = host;
  profile.kernel_ledger.tick_ns = tick_ns;
  for (const char* name : kLossNames) profile.losses[name] = 0;
  for (const CpuSnapshot& b : later.cpus) {
    const CpuSnapshot* a = FindCpu(earlier, b.cpu);
    if (a == nullptr) continue;
    profile.cpus.push_back(SubtractCpu(*a, b));
    profile.elapsed_ns = std::max(profile.elapsed_ns, profile.cpus.back().elapsed_ns);
    AppendContexts(*a, b, later.nics, profile.contexts);
    AppendNapi(*a, b, later.nics, profile.napi);
    for (int i = 0; i < LOSSES; ++i)
      profile.losses[kLossNames[i]] += b.account->losses[i] - a->account->losses[i];
    profile.hidden_switches += b.account->hidden_switches - a->account->hidden_switches;
    for (int level = 0; level < LEVELS; ++level)
      profile.self_cost.events +=
          b.account->levels[level].events - a->account->levels[level].events;
  }
  AppendTasks(earlier, later, profile.tasks);
  for (const ProcStatCpu& b : later.kernel_before.stat.cpus)
    AppendKernelCpu(earlier.kernel_before.stat, b, tick_ns, profile.kernel_ledger);
  profile.losses["torn_reads"] = later.torn_reads + earlier.torn_reads;
  profile.losses["recursion_misses"] = later.recursion_misses - earlier.recursion_misses;
  return profile;
}

}  // namespace irqprof
