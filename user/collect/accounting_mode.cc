// Which ledger a known hardirq load turns up in tells the accounting mode:
//
//   irqtime  the irq column gains the load
//   vtime    this process's stime gains it: the kernel saw the interrupt begin
//            in user mode, and charges kernel time to whoever is there; only CPUs
//            listed in nohz_full do so
//   tick     neither does: a pure user-mode loop is charged the load as utime
//
// The load is a third of the time, so each answer is far from the others.
#include <sched.h>
#include <sys/resource.h>

#include "absl/cleanup/cleanup.h"
#include "user/collect/bpf.h"
#include "user/collect/clock.h"
#include "user/collect/collector.h"
#include "user/collect/proc.h"

namespace irqprof {
namespace {

constexpr uint64_t kSpinNs = 300'000;
constexpr uint64_t kPeriodNs = 900'000;
constexpr double kMeasureS = 0.25;

struct Charges {
  double irq_s = 0;
  double user_s = 0;
  double system_s = 0;
};

double Seconds(const timeval& time) { return time.tv_sec + time.tv_usec * 1e-6; }

Charges ReadCharges(int cpu, int64_t tick_ns) {
  Charges charges;
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  charges.user_s = Seconds(usage.ru_utime);
  charges.system_s = Seconds(usage.ru_stime);
  auto reading = ReadKernel({});
  if (!reading.ok()) return charges;
  for (const ProcStatCpu& row : reading->stat.cpus)
    if (row.cpu == cpu) charges.irq_s = row.ticks[ProcStatCpu::kIrq].value_or(0) * tick_ns * 1e-9;
  return charges;
}

void SpinInUserMode(double seconds) {
  const int64_t end_ns = MonotonicNs() + static_cast<int64_t>(seconds * 1e9);
  do {
    // long between two looks at the clock, which may be a system call
    for (int i = 0; i < 10'000; ++i) asm volatile("");
  } while (MonotonicNs() < end_ns);
}

bool MayBeVtime(int cpu) {
  auto text = ReadTextFile("/sys/devices/system/cpu/nohz_full");
  if (!text.ok()) return true;  // not known
  for (int listed : ParseCpuList(*text))
    if (listed == cpu) return true;
  return false;
}

}  // namespace

std::string MeasureAccountingMode(int cpu) {
  cpu_set_t before, one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  if (sched_getaffinity(0, sizeof(before), &before) != 0 ||
      sched_setaffinity(0, sizeof(one), &one) != 0)
    return "unknown";
  auto restore = absl::MakeCleanup([&] { sched_setaffinity(0, sizeof(before), &before); });

  int64_t tick_ns = UserTickNs();
  Charges begin = ReadCharges(cpu, tick_ns);
  auto injector = BpfInjector::Start(cpu, kSpinNs, kPeriodNs);
  if (!injector.ok()) return "unknown";
  SpinInUserMode(kMeasureS);
  double injected_s = (*injector)->injected_ns() * 1e-9;
  injector->reset();
  Charges end = ReadCharges(cpu, tick_ns);

  if (injected_s < kMeasureS / 10) return "unknown";
  if (end.irq_s - begin.irq_s > injected_s / 2) return "irqtime";
  if (MayBeVtime(cpu) && end.system_s - begin.system_s > injected_s / 2) return "vtime";
  if (end.user_s - begin.user_s > injected_s) return "tick";
  return "unknown";
}

}  // namespace irqprof
