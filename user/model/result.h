// The result: what one `irqprof run`, `record` or `stat` found, as plain values.
//
// This is the hinge between measuring and showing. Everything above fills it
// (collect -> ledger -> reconcile -> scenario), everything beside it only reads
// it (report, check). model/result_json.h writes and reads it as
// `irqprof.result/1`; field names here follow the JSON keys.
//
// Units are in the names: *_ns are integer nanoseconds, metrics are SI (the
// unit ends the metric's name), shares are 0..1 of the measured CPUs' elapsed
// time. "self" has nested contexts taken out, "total" includes them.
//
// Invariants a producer keeps:
//   cpus:   sum(self_ns) + unattributed_ns == elapsed_ns, per CPU
//   tasks:  on_cpu_ns == own_ns + sum(stolen_ns); own_softirq_ns is inside own_ns
//   losses: every cause that can taint is listed, also when its count is 0
#ifndef IRQPROF_MODEL_RESULT_H_
#define IRQPROF_MODEL_RESULT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace irqprof {

inline constexpr char kResultSchema[] = "irqprof.result/1";

// One CPU's share of some time, split by context. Self time only.
struct SelfTime {
  int64_t idle_ns = 0;
  int64_t task_ns = 0;
  int64_t softirq_ns = 0;
  int64_t hardirq_ns = 0;
  int64_t vector_ns = 0;
  int64_t nmi_ns = 0;

  int64_t Sum() const { return idle_ns + task_ns + softirq_ns + hardirq_ns + vector_ns + nmi_ns; }
  int64_t Interrupts() const { return softirq_ns + hardirq_ns + vector_ns + nmi_ns; }
};

struct CpuRow {
  int cpu = 0;
  int64_t elapsed_ns = 0;
  SelfTime self;
  int64_t unattributed_ns = 0;  // elapsed_ns - self.Sum(): what no event explains
};

struct ContextRow {
  int cpu = 0;
  std::string kind;        // "hardirq", "vector" or "softirq"
  std::string name;        // action, vector or softirq name; from the kernel, not trusted
  std::optional<int> irq;  // device lines only
  std::optional<std::string> netdev;  // device lines that belong to a NIC
  std::optional<std::string> driver;
  int64_t count = 0;
  int64_t self_ns = 0;
  int64_t total_ns = 0;
  int64_t max_ns = 0;                                // longest total
  std::vector<std::pair<int64_t, int64_t>> hist_ns;  // (upper bound, count) of totals
};

struct NapiRow {
  int cpu = 0;
  std::string netdev;  // "backlog" for the per-CPU queue that has no device
  std::string driver;  // empty where unknown
  int64_t polls = 0;
  int64_t packets = 0;
  int64_t budget_exhausted = 0;
  std::optional<int64_t> self_ns;  // absent: not measured (no begin hook there)
  std::string where;               // "softirq", "thread" or "busy_poll"
};

struct TheftRow {
  std::string kind;
  std::string name;
  int64_t ns = 0;
};

struct TaskRow {
  int pid = 0;
  int tgid = 0;
  std::string comm;    // not trusted
  std::string cgroup;  // path where it could be resolved, else "id:N"
  int64_t on_cpu_ns = 0;
  int64_t own_ns = 0;
  struct Stolen {
    int64_t hardirq_ns = 0;
    int64_t vector_ns = 0;
    int64_t softirq_ns = 0;
    int64_t nmi_ns = 0;
    int64_t Sum() const { return hardirq_ns + vector_ns + softirq_ns + nmi_ns; }
  } stolen;
  int64_t own_softirq_ns = 0;
  // How many interrupts of each kind hit this task itself and not a softirq on
  // top of it: what a calibrated unobserved cost per interrupt is multiplied with.
  struct Hits {
    int64_t hardirq = 0;
    int64_t vector = 0;
    int64_t softirq = 0;
  } hits;
  int64_t switches = 0;             // times it was switched out
  std::vector<TheftRow> stolen_by;  // largest first
  struct Kernel {
    int64_t utime_ns = 0;    // raw task->utime, before cputime_adjust()
    int64_t stime_ns = 0;    // raw task->stime; holds softirq ticks in tick mode
    int64_t runtime_ns = 0;  // se.sum_exec_runtime
    // How far these three may be from the interval's ends: the task was on a CPU
    // at one of them, and the kernel's figures are taken when it leaves.
    int64_t slack_ns = 0;
    // What the kernel's per-CPU columns gained while this task was on the CPU;
    // absent where the kernel does not let a program read them.
    struct Columns {
      int64_t user_ns = 0;  // user and nice
      int64_t system_ns = 0;
      int64_t softirq_ns = 0;
      int64_t irq_ns = 0;
    };
    std::optional<Columns> columns;
  } kernel;
};

// /proc/stat over the interval, one CPU. Ticks turned to ns with tick_ns; each
// value is right to +-1 tick. A column the kernel does not print is absent.
struct KernelCpuRow {
  int cpu = 0;
  int64_t user_ns = 0;
  int64_t nice_ns = 0;
  int64_t system_ns = 0;
  int64_t idle_ns = 0;
  int64_t iowait_ns = 0;
  std::optional<int64_t> irq_ns;
  std::optional<int64_t> softirq_ns;
  std::optional<int64_t> steal_ns;
};

struct KernelLedger {
  std::vector<KernelCpuRow> cpus;
  int64_t tick_ns = 0;  // one USER_HZ tick: the unit /proc/stat is printed in
};

struct Finding {
  std::string rule;     // e.g. "hidden-hardirq"
  std::string subject;  // e.g. "cpu0", "task 123 (competitor)"
  int64_t exact_ns = 0;
  int64_t kernel_ns = 0;
  int64_t bound_ns = 0;  // how far apart the two may be and still agree
  std::string verdict;   // "agrees", "misattributed" or "not-comparable"
  std::string text;      // one sentence a person understands
};

struct HostFacts {
  std::string kernel;      // uname -r
  std::string arch;        // uname -m
  std::string accounting;  // "tick", "irqtime", "vtime" or "unknown"; measured
  int hz = 0;              // CONFIG_HZ where it could be found, else 0
  std::vector<int> cpus_online;
  std::vector<std::string> absent_hooks;  // hooks this kernel does not offer
};

struct Profile {
  HostFacts host;
  int64_t elapsed_ns = 0;
  std::vector<CpuRow> cpus;
  std::vector<ContextRow> contexts;
  std::vector<NapiRow> napi;
  std::vector<TaskRow> tasks;  // largest on_cpu_ns first
  KernelLedger kernel_ledger;
  std::vector<Finding> findings;
  std::map<std::string, int64_t> losses;
  // Times a task in which this kernel runs no BPF left a CPU unseen; its time on
  // the CPU is then the kernel's own figure. 0 on an ordinary kernel.
  int64_t hidden_switches = 0;
  struct SelfCost {
    int64_t events = 0;
    std::optional<int64_t> ns;  // absent: not measured
  } self_cost;

  bool Tainted() const {
    for (const auto& [cause, count] : losses)
      if (count != 0) return true;
    return false;
  }
};

using Metrics = std::map<std::string, double>;

// Where the interrupt time that its kernel column does not show went, as shares
// of the measured CPU's elapsed time. Sums: hidden = to_other_column +
// to_competitor_user + to_competitor_sys + to_stream + to_idle + elsewhere.
struct HiddenSplit {
  // hardirq, vector and NMI time beyond the irq column, and softirq time beyond
  // the softirq column; each at least 0
  double hidden = 0;
  double to_other_column = 0;  // shown by the other of the two: hardirqs as softirq
  double to_competitor_user = 0;
  double to_competitor_sys = 0;
  double to_stream = 0;
  double to_idle = 0;
  double elsewhere = 0;  // other tasks, and the rounding of both ledgers' ticks
};

struct Run {
  int round = 0;
  Metrics metrics;
  std::optional<HiddenSplit> hidden_split;  // absent: this kernel hides its columns
  std::optional<Profile> profile;           // absent: measured without probes
};

struct Interval {
  double median = 0;
  double low = 0;  // 95 % interval of the median
  double high = 0;
  int n = 0;
};

struct Arm {
  std::string name;
  struct Nic {
    std::string netdev;
    std::string driver;
    std::string model;
  } nic;
  std::map<std::string, std::string> settings;
  std::vector<Run> runs;
  std::map<std::string, Interval> summary;
  // The same arm without irqprof's programs attached: metric -> value with
  // probes / value without. Empty: not measured.
  Metrics probe_effect;
};

struct Reference {
  std::string source;
  std::string system;  // "Linux 2.2", "FreeBSD 3.0"
  std::string arm;
  Metrics metrics;
};

// How a scenario's result was made; all that is needed to make it again.
struct Provenance {
  std::string question;
  uint64_t order_seed = 0;  // of the shuffled order of arms
  int rounds = 0;
  std::string clock;  // "instructions" or "host"
  double wall_s = 0;
};

struct Result {
  std::string schema = kResultSchema;
  std::string command;  // "run", "record" or "stat"
  std::string version;
  std::string scenario;  // run only
  std::string place;     // "lab" or "live"
  Provenance provenance;
  std::vector<Arm> arms;             // run only
  std::vector<Reference> reference;  // run only
  std::optional<Profile> profile;    // record and stat only

  bool Tainted() const {
    if (profile && profile->Tainted()) return true;
    for (const Arm& arm : arms)
      for (const Run& run : arm.runs)
        if (run.profile && run.profile->Tainted()) return true;
    return false;
  }
};

}  // namespace irqprof

#endif  // IRQPROF_MODEL_RESULT_H_
