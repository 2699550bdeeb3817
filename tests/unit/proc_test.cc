// The kernel's text files as they are found on real machines, in containers and
// behind lxcfs.
#include "user/collect/proc.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace irqprof {
namespace {

namespace fs = std::filesystem;
using Cpus = std::vector<int>;
using Ticks = std::vector<std::optional<uint64_t>>;

Cpus CpusOf(const ProcStat& stat) {
  Cpus cpus;
  for (const ProcStatCpu& row : stat.cpus) cpus.push_back(row.cpu);
  return cpus;
}

Ticks TicksOf(const ProcStatCpu& row) { return Ticks(std::begin(row.ticks), std::end(row.ticks)); }

TEST(ProcStat, RowsOfCpusAreReadAndTheAggregateIsNot) {
  const ProcStat stat = ParseProcStat(
      "cpu  415 0 170 3600 0 18 20 0 0 0\n"
      "cpu0 100 1 50 900 2 5 6 3 90 1\n"
      "cpu2 110 0 40 880 0 4 3 0 0 0\n"
      "intr 912331 17 9 0 0 4\n"
      "ctxt 7712903\n");
  ASSERT_EQ(CpusOf(stat), (Cpus{0, 2}));
  EXPECT_EQ(TicksOf(stat.cpus[0]), (Ticks{100, 1, 50, 900, 2, 5, 6, 3}));
  EXPECT_EQ(TicksOf(stat.cpus[1]), (Ticks{110, 0, 40, 880, 0, 4, 3, 0}));
  EXPECT_EQ(stat.intr_total, 912331u);
  EXPECT_FALSE(stat.truncated);
}

TEST(ProcStat, CpuIdsMayBeSparse) {
  EXPECT_EQ(CpusOf(ParseProcStat("cpu  9 0 5 7 4 0 1 0 0 0\n"
                                 "cpu0 1 0 5 9 5 0 0 0 0 0\ncpu9 1 0 5 9 5 0 0 0 0 0\n"
                                 "cpu16 1 0 5 9 5 0 0 0 0 0\ncpu255 1 0 5 9 5 0 0 0 0 0\n")),
            (Cpus{0, 9, 16, 255}));
}

TEST(ProcStat, AColumnThatIsNotPrintedIsNotKnown) {
  const ProcStat stat = ParseProcStat("cpu0 661 3 290 17045\n");
  ASSERT_EQ(stat.cpus.size(), 1u);
  EXPECT_EQ(TicksOf(stat.cpus[0]),
            (Ticks{661, 3, 290, 17045, std::nullopt, std::nullopt, std::nullopt, std::nullopt}));
}

TEST(ProcStat, AColumnThatIsNoNumberIsNotKnownAndDoesNotShiftTheOthers) {
  const ProcStat stat = ParseProcStat("cpu0 1 -2 3 4x 5 99999999999999999999999 7 8\n");
  ASSERT_EQ(stat.cpus.size(), 1u);
  EXPECT_EQ(TicksOf(stat.cpus[0]),
            (Ticks{1, std::nullopt, 3, std::nullopt, 5, std::nullopt, 7, 8}));
}

TEST(ProcStat, HugeCountsOfLxcfsAreKept) {
  const ProcStat stat = ParseProcStat("cpu0 20415 0 0 9100200300400500600 0 0 0 0 0 0\n");
  ASSERT_EQ(stat.cpus.size(), 1u);
  EXPECT_EQ(stat.cpus[0].ticks[ProcStatCpu::kIdle], 9'100'200'300'400'500'600u);
}

TEST(ProcStat, ARowThatWasCutIsDroppedAndSaid) {
  const ProcStat stat = ParseProcStat(
      "cpu  210 0 90 1780 0 9 9 0 0 0\n"
      "cpu0 100 0 50 900 0 5 6 0 0 0\n"
      "cpu1 110 ");
  EXPECT_EQ(CpusOf(stat), (Cpus{0}));
  EXPECT_TRUE(stat.truncated);
}

TEST(ProcStat, BlankAndUnknownRowsDoNotStopTheReading) {
  const ProcStat stat = ParseProcStat(
      "cpu  6615 0 1386 1078811 111 0 0 0\n"
      "cpu0 2711 0 609 540010 41 0 0 0\n"
      "swap 0 0\n"
      "\n"
      "cpufreq 3\n"
      "processes -2031184466\n"
      "cpu1 3904 0 777 538801 70 0 0 0\n"
      "intr 0\n");
  EXPECT_EQ(CpusOf(stat), (Cpus{0, 1}));
  EXPECT_EQ(stat.intr_total, 0u);
  EXPECT_FALSE(stat.truncated);
}

TEST(ProcStat, AnIntrRowOfAnyLengthIsReadAndSoAreTheRowsAfterIt) {
  for (size_t length : {510, 2040, 68'015}) {
    std::string row = "intr 812345678";
    while (row.size() + 3 < length) row += " 0";
    row.resize(length - 1, '0');
    const ProcStat stat =
        ParseProcStat("cpu0 10 0 5 900 0 0 1 0 0 0\n" + row + "\ncpu1 1 2 3 4 5 6 7 8 9 10\n");
    EXPECT_EQ(stat.intr_total, 812345678u) << length;
    EXPECT_EQ(CpusOf(stat), (Cpus{0, 1})) << length;
  }
}

TEST(ProcStat, AnEmptyFileHasNoCpusAndNoTotal) {
  const ProcStat stat = ParseProcStat("");
  EXPECT_TRUE(stat.cpus.empty());
  EXPECT_EQ(stat.intr_total, std::nullopt);
  EXPECT_FALSE(stat.truncated);
}

std::string PidStatText(const std::string& comm) {
  return "4105 (" + comm +
         ") S 1 4105 4105 0 -1 4194560 921 0 0 0 3088 412 0 0 20 0 1 0 771 9912320 201 "
         "18446744073709551615 0 0 0 0 0 0 0 0 0 0 0 0 17 3 0 0 0 0 0 0 0 0 0 0 0 0 0\n";
}

TEST(PidStat, ANameMayHoldAnything) {
  for (const std::string comm :
       {"iperf3", "", ")", "(", "evil) R 9 9", "sle ep", "tmux: server", "caf\xc3\xa9", "a\nb",
        "kworker/u64:3-events_unbound", "irq/57-mlx5_async0@pci:0000:86:00.0", ") S 1 (2) 3"}) {
    const auto stat = ParsePidStat(PidStatText(comm));
    ASSERT_TRUE(stat.has_value()) << comm;
    EXPECT_EQ(stat->comm, comm);
    EXPECT_EQ(stat->utime_ticks, 3088u) << comm;
    EXPECT_EQ(stat->stime_ticks, 412u) << comm;
  }
}

TEST(PidStat, OldKernelsPrintFewerFields) {
  const auto stat =
      ParsePidStat("77 (init) S 0 77 77 0 -1 4194560 10 0 0 0 12 34 0 0 20 0 1 0 5 100 2\n");
  ASSERT_TRUE(stat.has_value());
  EXPECT_EQ(stat->utime_ticks, 12u);
  EXPECT_EQ(stat->stime_ticks, 34u);
}

TEST(PidStat, ATaskThatHasGoneHasNoValue) {
  EXPECT_FALSE(ParsePidStat("").has_value());
  EXPECT_FALSE(ParsePidStat("\n").has_value());
  EXPECT_FALSE(ParsePidStat("77 (init) S 0 77 77 0 -1 4194560 10 0 0 0 12").has_value());
  EXPECT_FALSE(ParsePidStat("77 )init( S").has_value());
}

TEST(CpuList, RangesAndSingleCpusAreListedInOrder) {
  EXPECT_EQ(ParseCpuList("0\n"), (Cpus{0}));
  EXPECT_EQ(ParseCpuList("0-3\n"), (Cpus{0, 1, 2, 3}));
  EXPECT_EQ(ParseCpuList("0,2-3\n"), (Cpus{0, 2, 3}));
  EXPECT_EQ(ParseCpuList("0-3,8,10-11"), (Cpus{0, 1, 2, 3, 8, 10, 11}));
  EXPECT_EQ(ParseCpuList("0-511\n").size(), 512u);
  const Cpus sparse = ParseCpuList("0-9,16-27,383\n");
  EXPECT_EQ(sparse.size(), 23u);
  EXPECT_EQ(sparse.back(), 383);
}

TEST(CpuList, EmptyOrMalformedTextIsAnEmptyList) {
  for (const char* text : {"", "\n", " \n", "(null)\n", "a", "3-1", "1-", "-1", "0,,1", "0-3-5",
                           "0x1", "0 1", "99999999999", "0-4000000000", "0-1048576"})
    EXPECT_TRUE(ParseCpuList(text).empty()) << text;
}

// A directory of its own, for trees like those of sysfs.
class Tree : public ::testing::Test {
 protected:
  Tree() {
    std::string name = ::testing::TempDir() + "irqprof-tree-XXXXXX";
    root_ = mkdtemp(name.data());
  }
  ~Tree() override { fs::remove_all(root_); }

  void Write(const std::string& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  void Link(const std::string& path, const std::string& target) {
    fs::create_directories((root_ / path).parent_path());
    fs::create_directories(root_ / target);
    fs::create_directory_symlink(root_ / target, root_ / path);
  }

  // A device below devices/, its netdev, and the netdev's link in net/.
  void AddNetdev(const std::string& device, const std::string& name, const std::string& driver,
                 const std::string& bus) {
    const std::string netdev = "devices/" + device + "/net/" + name;
    Link(netdev + "/device", "devices/" + device);
    Link("devices/" + device + "/driver", "drivers/" + driver);
    Link("devices/" + device + "/subsystem", "bus/" + bus);
    Link("net/" + name, netdev);
  }

  NicFact Nic(const std::string& name) {
    for (NicFact& nic : ReadNics(root_ / "net")) {
      std::sort(nic.msi.begin(), nic.msi.end());
      if (nic.netdev == name) return nic;
    }
    ADD_FAILURE() << "no " << name;
    return {};
  }

  fs::path root_;
};

using NicTree = Tree;
using TextFile = Tree;
using CgroupTree = Tree;

TEST_F(NicTree, APciNicHasItsMessageSignalledLinesOrElseItsLegacyOne) {
  AddNetdev("pci0/0000:00:04.0", "eth0", "e1000e", "pci");
  Write("devices/pci0/0000:00:04.0/irq", "24\n");
  Write("devices/pci0/0000:00:04.0/msi_irqs/25", "msix\n");
  Write("devices/pci0/0000:00:04.0/msi_irqs/26", "msix\n");
  AddNetdev("pci0/0000:00:05.0", "eth1", "8139too", "pci");
  Write("devices/pci0/0000:00:05.0/irq", "11\n");

  EXPECT_EQ(Nic("eth0").driver, "e1000e");
  EXPECT_EQ(Nic("eth0").msi, (std::vector<int>{25, 26}));
  EXPECT_TRUE(Nic("eth0").intx.empty());
  EXPECT_EQ(Nic("eth1").driver, "8139too");
  EXPECT_EQ(Nic("eth1").intx, (std::vector<int>{11}));
}

TEST_F(NicTree, AVirtioNicHasTheLinesOfThePciDeviceBelowIt) {
  AddNetdev("pci0/0000:00:02.0/virtio1", "eth0", "virtio_net", "virtio");
  Write("devices/pci0/0000:00:02.0/msi_irqs/31", "msix\n");
  EXPECT_EQ(Nic("eth0").driver, "virtio_net");
  EXPECT_EQ(Nic("eth0").msi, (std::vector<int>{31}));
}

TEST_F(NicTree, AUsbNicHasNoLineOfItsOwn) {
  AddNetdev("pci0/0000:00:14.0/usb1/1-1:1.0", "eth0", "cdc_ether", "usb");
  Write("devices/pci0/0000:00:14.0/msi_irqs/40", "msi\n");
  EXPECT_EQ(Nic("eth0").driver, "cdc_ether");
  EXPECT_TRUE(Nic("eth0").msi.empty());
  EXPECT_TRUE(Nic("eth0").intx.empty());
}

TEST_F(NicTree, WhatHasNoHardwareHasNoDriverAndPlainFilesAreNoNics) {
  Link("net/lo", "devices/virtual/net/lo");
  Write("net/bonding_masters", "bond0\n");
  EXPECT_EQ(Nic("lo").driver, "");
  EXPECT_EQ(ReadNics(root_ / "net").size(), 1u);
  EXPECT_TRUE(ReadNics(root_ / "absent").empty());
}

TEST_F(TextFile, IsReadWholeHoweverLongItIs) {
  const std::string text(200'001, 'x');
  Write("long", text);
  const auto read = ReadTextFile(root_ / "long");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, text);
}

TEST_F(TextFile, ThatCannotBeReadIsNamed) {
  const auto absent = ReadTextFile(root_ / "absent");
  EXPECT_TRUE(absl::IsNotFound(absent.status())) << absent.status();
  EXPECT_NE(absent.status().message().find((root_ / "absent").string()), std::string::npos);
  EXPECT_FALSE(ReadTextFile(root_).ok()) << "a directory is no text";
}

uint64_t InodeOf(const fs::path& path) {
  struct stat status {};
  EXPECT_EQ(stat(path.c_str(), &status), 0) << path;
  return status.st_ino;
}

TEST_F(CgroupTree, PathsAreFoundByTheirInodeBelowTheV2Mount) {
  Write("cgroup.controllers", "cpu\n");
  Write("user.slice/session-3.scope/cgroup.procs", "");
  auto paths = ReadCgroupPaths(root_);
  EXPECT_EQ(paths.size(), 3u);
  EXPECT_EQ(paths[InodeOf(root_)], "/");
  EXPECT_EQ(paths[InodeOf(root_ / "user.slice/session-3.scope")], "/user.slice/session-3.scope");
}

TEST_F(CgroupTree, OnAHybridHostV2IsOneLevelDeeper) {
  Write("cpu,cpuacct/tasks", "");
  Write("unified/cgroup.controllers", "\n");
  Write("unified/init.scope/cgroup.procs", "");
  auto paths = ReadCgroupPaths(root_);
  EXPECT_EQ(paths.size(), 2u);
  EXPECT_EQ(paths[InodeOf(root_ / "unified/init.scope")], "/init.scope");
}

TEST_F(CgroupTree, WithoutV2ThereAreNoPaths) {
  Write("cpu,cpuacct/tasks", "");
  EXPECT_TRUE(ReadCgroupPaths(root_).empty());
}

}  // namespace
}  // namespace irqprof
