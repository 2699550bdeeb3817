// The exact ledger of an interval: what BuildProfile makes of two snapshots.
#include "user/model/ledger.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>

#include "tests/support/account_replay.h"
#include "tests/support/cpu_event.h"
#include "tests/support/tiny_kernel.h"
#include "user/model/names.h"

namespace irqprof {
namespace {

constexpr int64_t kTickNs = 10'000'000;

CpuSnapshot Cpu(int cpu, uint64_t at_ns, const cpu_account& account = {}) {
  return {cpu, at_ns, std::make_shared<cpu_account>(account)};
}

line_account Line(uint32_t irq, uint64_t action, const std::string& name, uint64_t count,
                  uint64_t self_ns) {
  line_account line{};
  line.irq = irq;
  line.action = action;
  line.used = 1;
  name.copy(line.name, sizeof(line.name));
  line.bucket.count = count;
  line.bucket.self_ns = line.bucket.total_ns = self_ns;
  return line;
}

TaskSnapshot TaskSums(uint32_t pid, uint64_t start_time, uint64_t on_cpu_ns) {
  TaskSnapshot task;
  task.key.pid = pid;
  task.key.start_time = start_time;
  task.account.on_cpu_ns = on_cpu_ns;
  return task;
}

ProcStatCpu StatRow(int cpu, std::initializer_list<std::optional<uint64_t>> ticks) {
  ProcStatCpu row;
  row.cpu = cpu;
  std::copy(ticks.begin(), ticks.end(), row.ticks);
  return row;
}

Profile Build(const Snapshot& earlier, const Snapshot& later) {
  return BuildProfile(earlier, later, HostFacts(), kTickNs);
}

TEST(Ledger, CpuTimesAreLaterMinusEarlierAndTheRestIsUnattributed) {
  cpu_account a{}, b{};
  a.idle_ns = 100, b.idle_ns = 400;
  a.task_ns = 50, b.task_ns = 80;
  for (int i = 0; i < TOTALS; ++i) a.totals.ns[i] = 7, b.totals.ns[i] = 8 + i;
  Snapshot earlier, later;
  earlier.cpus = {Cpu(2, 1000, a)};
  later.cpus = {Cpu(2, 1500, b)};
  const Profile profile = Build(earlier, later);
  ASSERT_EQ(profile.cpus.size(), 1u);
  const CpuRow& row = profile.cpus[0];
  EXPECT_EQ(row.cpu, 2);
  EXPECT_EQ(row.elapsed_ns, 500);
  EXPECT_EQ(row.self.idle_ns, 300);
  EXPECT_EQ(row.self.task_ns, 30);
  EXPECT_EQ(row.self.hardirq_ns, 1);
  EXPECT_EQ(row.self.vector_ns, 2);
  EXPECT_EQ(row.self.softirq_ns, 3 + 4);
  EXPECT_EQ(row.self.nmi_ns, 5);
  EXPECT_EQ(row.unattributed_ns, 500 - 345);
  EXPECT_EQ(profile.elapsed_ns, 500);
}

TEST(Ledger, ACpuThatAppearsOrVanishesMidIntervalIsLeftOut) {
  cpu_account busy{};
  busy.idle_ns = 9'999;
  busy.lines[3] = Line(3, 1, "eth0", 50, 5000);
  busy.losses[LOSS_lines_full] = 4;
  Snapshot earlier, later;
  earlier.cpus = {Cpu(0, 1000), Cpu(1, 1000, busy)};
  later.cpus = {Cpu(0, 2000), Cpu(2, 2000, busy)};
  const Profile profile = Build(earlier, later);
  ASSERT_EQ(profile.cpus.size(), 1u);
  EXPECT_EQ(profile.cpus[0].cpu, 0);
  EXPECT_TRUE(profile.contexts.empty());
  EXPECT_FALSE(profile.Tainted());
}

TEST(Ledger, EveryLossIsListedAndOnlyItsGainTaints) {
  cpu_account a{}, b{};
  a.losses[LOSS_exit_lost] = b.losses[LOSS_exit_lost] = 3;
  Snapshot earlier, later;
  earlier.cpus = {Cpu(0, 0, a)};
  later.cpus = {Cpu(0, 10, b)};
  earlier.recursion_misses = later.recursion_misses = 6;
  Profile profile = Build(earlier, later);
  EXPECT_EQ(profile.losses.size(), LOSSES + 2u);
  EXPECT_FALSE(profile.Tainted());

  b.losses[LOSS_exit_lost] = 5;
  later.cpus = {Cpu(0, 10, b)};
  later.recursion_misses = 7;
  later.torn_reads = 1;
  profile = Build(earlier, later);
  EXPECT_EQ(profile.losses["exit_lost"], 2);
  EXPECT_EQ(profile.losses["recursion_misses"], 1);
  EXPECT_EQ(profile.losses["torn_reads"], 1);
  EXPECT_TRUE(profile.Tainted());
}

const ContextRow* FindContext(const Profile& profile, const std::string& name) {
  for (const ContextRow& row : profile.contexts)
    if (row.name == name) return &row;
  return nullptr;
}

TEST(Ledger, ActionsOfASharedLineAreRowsOfTheirOwnAndOnlyTheNicsIsTheNics) {
  cpu_account a{}, b{};
  a.lines[16] = Line(16, 64, "ehci_hcd:usb1", 2, 100);
  b.lines[16] = Line(16, 64, "ehci_hcd:usb1", 5, 400);
  b.lines[17] = Line(16, 128, "eth0", 3, 90);
  Snapshot earlier, later;
  earlier.cpus = {Cpu(0, 0, a)};
  later.cpus = {Cpu(0, 1000, b)};
  later.nics = {{"eth0", "8139too", {16}, {}}};
  const Profile profile = Build(earlier, later);
  ASSERT_EQ(profile.contexts.size(), 2u);
  const ContextRow* usb = FindContext(profile, "ehci_hcd:usb1");
  const ContextRow* nic = FindContext(profile, "eth0");
  ASSERT_TRUE(usb != nullptr && nic != nullptr);
  EXPECT_EQ(usb->irq, 16);
  EXPECT_EQ(usb->count, 3);
  EXPECT_EQ(usb->self_ns, 300);
  EXPECT_EQ(usb->netdev, std::nullopt);
  EXPECT_EQ(nic->self_ns, 90);
  EXPECT_EQ(nic->netdev, "eth0");
  EXPECT_EQ(nic->driver, "8139too");
}

TEST(Ledger, LinesWithoutASlotAreOneRowWithoutANumber) {
  cpu_account b{};
  b.lines[LINES - 1] = Line(0, 0, "", 7, 70);
  Snapshot earlier, later;
  earlier.cpus = {Cpu(0, 0)};
  later.cpus = {Cpu(0, 1000, b)};
  later.nics = {{"eth0", "x", {}, {0}}};
  const Profile profile = Build(earlier, later);
  const ContextRow* rest = FindContext(profile, "(other lines)");
  ASSERT_NE(rest, nullptr);
  EXPECT_EQ(rest->count, 7);
  EXPECT_EQ(rest->irq, std::nullopt);
  EXPECT_EQ(rest->netdev, std::nullopt);
}

TEST(Ledger, ANameThatFillsItsFieldIsTakenWholeAndNotReadPastIt) {
  cpu_account b{};
  b.lines[1] = Line(1, 64, std::string(NAME_LENGTH, 'n'), 1, 1);
  Snapshot earlier, later;
  earlier.cpus = {Cpu(0, 0)};
  later.cpus = {Cpu(0, 1000, b)};
  EXPECT_NE(FindContext(Build(earlier, later), std::string(NAME_LENGTH, 'n')), nullptr);
}

TEST(Ledger, ASoftirqIsOneRowWhereverItRan) {
  cpu_account a{}, b{};
  a.softirqs[SOFTIRQ_NET_RX][PLACE_TASK] = {1, 10, 10, 10, {}};
  b.softirqs[SOFTIRQ_NET_RX][PLACE_TASK] = {3, 40, 50, 20, {}};
  b.softirqs[SOFTIRQ_NET_RX][PLACE_IRQ_EXIT] = {2, 5, 6, 4, {}};
  b.softirqs[SOFTIRQ_NET_RX][PLACE_IRQ_EXIT].hist[2] = 2;
  Snapshot earlier, later;
  earlier.cpus = {Cpu(0, 0, a)};
  later.cpus = {Cpu(0, 1000, b)};
  const Profile profile = Build(earlier, later);
  ASSERT_EQ(profile.contexts.size(), 1u);
  const ContextRow& row = profile.contexts[0];
  EXPECT_EQ(row.kind, "softirq");
  EXPECT_EQ(row.name, "NET_RX");
  EXPECT_EQ(row.count, 4);
  EXPECT_EQ(row.self_ns, 35);
  EXPECT_EQ(row.total_ns, 46);
  EXPECT_EQ(row.max_ns, 20);
  const std::vector<std::pair<int64_t, int64_t>> up_to_8_ns = {{8, 2}};
  EXPECT_EQ(row.hist_ns, up_to_8_ns);
}

TEST(Ledger, PollsKeepTheirPlaceAndHaveSelfTimeOnlyInsideSoftirqs) {
  cpu_account b{};
  strcpy(b.napis[4].netdev, "eth0");
  b.napis[4].work[NAPI_IN_SOFTIRQ] = {10, 300, 2, 5000};
  b.napis[4].work[NAPI_IN_BUSY_POLL] = {1, 5, 0, 0};
  b.napis[5].work[NAPI_IN_SOFTIRQ] = {6, 6, 0, 60};
  Snapshot earlier, later;
  earlier.cpus = {Cpu(0, 0)};
  later.cpus = {Cpu(0, 1000, b)};
  later.nics = {{"eth0", "e1000e", {}, {24}}};
  const Profile profile = Build(earlier, later);
  ASSERT_EQ(profile.napi.size(), 3u);
  EXPECT_EQ(profile.napi[0].where, "softirq");
  EXPECT_EQ(profile.napi[0].self_ns, 5000);
  EXPECT_EQ(profile.napi[0].driver, "e1000e");
  EXPECT_EQ(profile.napi[1].where, "busy_poll");
  EXPECT_EQ(profile.napi[1].self_ns, std::nullopt);
  EXPECT_EQ(profile.napi[2].netdev, "backlog");
  EXPECT_EQ(profile.napi[2].driver, "");
}

TEST(Ledger, ATaskKeepsOnlyWhatItDidInTheInterval) {
  TaskSnapshot a = TaskSums(100, 1, 1000), b = TaskSums(100, 1, 3000);
  for (int i = 0; i < TOTALS; ++i) {
    a.account.totals.ns[i] = 10, b.account.totals.ns[i] = 20 + i;
    b.account.totals.hits[i] = i + 1;
  }
  a.account.switches = 2, b.account.switches = 5;
  a.account.charge_last.utime_ns = 500, b.account.charge_last.utime_ns = 1700;
  b.account.cgroup_id = 77;
  Snapshot earlier, later;
  earlier.tasks = {a};
  later.tasks = {b};
  later.cgroup_paths[77] = "/test";
  const Profile profile = Build(earlier, later);
  ASSERT_EQ(profile.tasks.size(), 1u);
  const TaskRow& row = profile.tasks[0];
  EXPECT_EQ(row.on_cpu_ns, 2000);
  EXPECT_EQ(row.stolen.hardirq_ns, 10);
  EXPECT_EQ(row.stolen.vector_ns, 11);
  EXPECT_EQ(row.stolen.softirq_ns, 12);
  EXPECT_EQ(row.own_softirq_ns, 13);
  EXPECT_EQ(row.stolen.nmi_ns, 14);
  EXPECT_EQ(row.own_ns, 2000 - (10 + 11 + 12 + 14));
  EXPECT_EQ(row.hits.softirq, 3);
  EXPECT_EQ(row.switches, 3);
  EXPECT_EQ(row.kernel.utime_ns, 1200);
  EXPECT_EQ(row.kernel.columns, std::nullopt);
  EXPECT_EQ(row.cgroup, "/test");
}

TEST(Ledger, ATaskThatAppearsIsChargedFromItsFirstSightAndAReusedPidIsAnotherTask) {
  TaskSnapshot old_one = TaskSums(100, 1, 9000), appeared = TaskSums(100, 2, 400);
  appeared.account.charge_first.stime_ns = 50;
  appeared.account.charge_last.stime_ns = 80;
  appeared.account.switches = 1;
  appeared.account.cgroup_id = 5;
  Snapshot earlier, later;
  earlier.tasks = {old_one};
  later.tasks = {old_one, appeared};
  const Profile profile = Build(earlier, later);
  ASSERT_EQ(profile.tasks.size(), 1u) << "the old task did nothing in the interval";
  EXPECT_EQ(profile.tasks[0].on_cpu_ns, 400);
  EXPECT_EQ(profile.tasks[0].kernel.stime_ns, 30);
  EXPECT_EQ(profile.tasks[0].cgroup, "id:5");
}

TEST(Ledger, TasksComeLargestFirst) {
  Snapshot earlier, later;
  later.tasks = {TaskSums(3, 1, 10), TaskSums(1, 1, 10), TaskSums(2, 1, 900)};
  const Profile profile = Build(earlier, later);
  ASSERT_EQ(profile.tasks.size(), 3u);
  EXPECT_EQ(profile.tasks[0].pid, 2);
  EXPECT_EQ(profile.tasks[1].pid, 1);
  EXPECT_EQ(profile.tasks[2].pid, 3);
}

TEST(Ledger, TheftsAreNamedAfterTheirSourceLargestFirst) {
  cpu_account b{};
  b.lines[40] = Line(40, 0x1000, "eth0-TxRx-0", 1, 1);
  Snapshot earlier, later;
  earlier.cpus = {Cpu(0, 0)};
  later.cpus = {Cpu(0, 1000, b)};
  TaskSnapshot before = TaskSums(100, 1, 1000), after = TaskSums(100, 1, 5000);
  before.account.line_thefts[0] = {0x1000, 40, 1, 30};
  after.account.line_thefts[0] = {0x1000, 40, 1, 130};
  after.account.line_thefts[TASK_LINES - 1] = {0, 0, 1, 2};
  before.account.vector_thefts[VECTOR_reschedule] = 8;
  after.account.vector_thefts[VECTOR_reschedule] = 8;
  after.account.vector_thefts[VECTOR_local_timer] = 5;
  after.account.softirq_thefts[SOFTIRQ_NET_RX] = 400;
  earlier.tasks = {before};
  later.tasks = {after};
  const Profile profile = Build(earlier, later);
  ASSERT_EQ(profile.tasks.size(), 1u);
  std::string thefts;
  for (const TheftRow& theft : profile.tasks[0].stolen_by)
    thefts += theft.kind + " " + theft.name + " " + std::to_string(theft.ns) + "\n";
  EXPECT_EQ(thefts,
            "softirq NET_RX 400\n"
            "hardirq eth0-TxRx-0 100\n"
            "vector local_timer 5\n"
            "hardirq (other lines) 2\n");
}

TEST(Ledger, AKernelColumnThatStepsBackIsNoTimeAndAMissingOneIsAbsent) {
  Snapshot earlier, later;
  earlier.kernel_before.stat.cpus = {StatRow(0, {10, 0, 5, 1000, 50, 0, 3}),
                                     StatRow(1, {1, 1, 1, 1, 1, 1, 1, 1})};
  later.kernel_before.stat.cpus = {StatRow(0, {14, 0, 5, 900, 49, 2, 3}),
                                   StatRow(4, {1, 1, 1, 1, 1, 1, 1, 1})};
  const Profile profile = Build(earlier, later);
  ASSERT_EQ(profile.kernel_ledger.cpus.size(), 1u);
  const KernelCpuRow& row = profile.kernel_ledger.cpus[0];
  EXPECT_EQ(row.user_ns, 4 * kTickNs);
  EXPECT_EQ(row.idle_ns, 0);
  EXPECT_EQ(row.iowait_ns, 0);
  EXPECT_EQ(row.irq_ns, 2 * kTickNs);
  EXPECT_EQ(row.softirq_ns, 0);
  EXPECT_EQ(row.steal_ns, std::nullopt);
  EXPECT_EQ(profile.kernel_ledger.tick_ns, kTickNs);
}

TEST(NicOfLine, AMessageSignalledLineNeedsNoName) {
  const std::vector<NicFact> nics = {{"eth0", "nvnet", {}, {24, 25}}};
  ASSERT_NE(NicOfLine(nics, 25, "whatever@pci:0000:00:04.0"), nullptr);
  EXPECT_EQ(NicOfLine(nics, 25, "virtio0-input.0")->netdev, "eth0");
  EXPECT_EQ(NicOfLine(nics, 26, "eth0"), nullptr);
}

TEST(NicOfLine, ALegacyLineNeedsTheNicsNameInTheAction) {
  const std::vector<NicFact> nics = {{"eth1", "a", {11}, {}}, {"eth10", "b", {11}, {}}};
  ASSERT_NE(NicOfLine(nics, 11, "eth1"), nullptr);
  ASSERT_NE(NicOfLine(nics, 11, "eth10"), nullptr);
  ASSERT_NE(NicOfLine(nics, 11, "eth1-rx-0"), nullptr);
  EXPECT_EQ(NicOfLine(nics, 11, "eth1")->netdev, "eth1");
  EXPECT_EQ(NicOfLine(nics, 11, "eth10")->netdev, "eth10");
  EXPECT_EQ(NicOfLine(nics, 11, "eth1-rx-0")->netdev, "eth1");
  EXPECT_EQ(NicOfLine(nics, 11, "eth"), nullptr);
  EXPECT_EQ(NicOfLine(nics, 11, "eth100"), nullptr);
  EXPECT_EQ(NicOfLine(nics, 11, "uhci_hcd:usb2"), nullptr);
  EXPECT_EQ(NicOfLine(nics, 11, ""), nullptr);
  EXPECT_EQ(NicOfLine(nics, 9, "eth1"), nullptr);
}

// The whole way: events -> record -> two snapshots -> profile.
TEST(Ledger, BetweenAnyTwoReadingsOfOneCpuNothingIsUnattributed) {
  constexpr uint64_t kBegan = 1'000'000;
  TinyKernel kernel(kBegan);
  AccountReplay replay(kBegan, TinyKernel::FirstTask());
  std::mt19937 random(5);
  size_t fed = 0;
  auto read = [&] {
    cpu_account copy = replay.account();
    account_extend(&copy, kernel.now_ns());
    Snapshot snapshot;
    snapshot.cpus = {Cpu(0, kernel.now_ns(), copy)};
    return snapshot;
  };
  Snapshot earlier = read();
  for (int step = 1; step <= 20'000; ++step) {
    const auto moves = kernel.Moves();
    kernel.Do(moves[random() % moves.size()], random() % 5000, random());
    for (; fed < kernel.events().size(); ++fed) replay.Feed(kernel.events()[fed]);
    if (step % 97 != 0) continue;
    Snapshot later = read();
    const Profile profile = Build(earlier, later);
    ASSERT_EQ(profile.cpus[0].unattributed_ns, 0) << step;
    int64_t interrupts_ns = 0;
    for (const ContextRow& row : profile.contexts) interrupts_ns += row.self_ns;
    ASSERT_EQ(interrupts_ns + profile.cpus[0].self.nmi_ns, profile.cpus[0].self.Interrupts());
    ASSERT_FALSE(profile.Tainted());
    earlier = later;
  }
}

}  // namespace
}  // namespace irqprof
