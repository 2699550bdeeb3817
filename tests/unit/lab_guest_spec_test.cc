#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "user/lab/contract.h"
#include "user/lab/guest_spec.h"

namespace irqprof::lab {
namespace {

using testing::Contains;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> Arguments(const GuestSpec& spec) {
  return QemuArguments(spec, {.kernel = 7, .initramfs = 8, .channel = 9}, {"/lib", "/opt/lib"});
}

// What follows an option on the command line; empty if it is not there.
std::string After(const std::vector<std::string>& arguments, const std::string& option) {
  const auto found = std::find(arguments.begin(), arguments.end(), option);
  return found == arguments.end() ? "" : *(found + 1);
}

TEST(GuestSpec, RepeatableClockCountsInstructionsFromAFixedDate) {
  const std::vector<std::string> arguments = Arguments({});
  EXPECT_EQ(After(arguments, "-icount"), "shift=1,sleep=off");
  EXPECT_EQ(After(arguments, "-rtc"), "clock=vm,base=2024-01-01T00:00:00");
  EXPECT_EQ(After(arguments, "-cpu"), "qemu64");
  EXPECT_THAT(After(arguments, "-append"), HasSubstr(" nokaslr "));
}

TEST(GuestSpec, SeedsAreElevenSecondsApart) {
  EXPECT_THAT(After(Arguments({.seed = 1}), "-rtc"), EndsWith("T00:00:11"));
  EXPECT_THAT(After(Arguments({.seed = 6}), "-rtc"), EndsWith("T00:01:06"));
}

TEST(GuestSpec, HostClockHasNeither) {
  const std::vector<std::string> arguments = Arguments({.repeatable = false});
  EXPECT_THAT(arguments, Not(Contains("-icount")));
  EXPECT_THAT(arguments, Not(Contains("-rtc")));
}

TEST(GuestSpec, WireIsInsideQemuAndHoldsPackets) {
  const std::vector<std::string> arguments = Arguments({.nic_model = "tulip"});
  EXPECT_EQ(After(arguments, "-netdev"),
            "user,id=wire,restrict=on,ipv6=off,guestfwd=tcp:10.0.2.100:5001-chardev:sink");
  EXPECT_EQ(After(arguments, "-device"),
            std::string("tulip,netdev=wire,mac=") + kNicMac + ",romfile=");
  EXPECT_THAT(After(arguments, "-object"), HasSubstr("interval=997"));
  EXPECT_THAT(Arguments({.nic_model = "tulip", .wire_interval_us = 0}), Not(Contains("-object")));
}

TEST(GuestSpec, WithoutANicThereIsNoNetwork) {
  EXPECT_THAT(Arguments({}), Not(Contains("-netdev")));
}

TEST(GuestSpec, InitGetsItsArgumentAndItsLibraries) {
  const std::string line =
      After(Arguments({.kernel_parameters = {"threadirqs", "a=b"}}), "-append");
  EXPECT_THAT(line, EndsWith(" threadirqs a=b -- guest"));
  EXPECT_THAT(line, HasSubstr(" LD_LIBRARY_PATH=/lib:/opt/lib "));
  EXPECT_THAT(line, HasSubstr(" rdinit=/irqprof "));
}

TEST(GuestSpec, FilesAreHandedOverByDescriptor) {
  const std::vector<std::string> arguments = Arguments({});
  EXPECT_EQ(After(arguments, "-kernel"), "/proc/self/fd/7");
  EXPECT_EQ(After(arguments, "-initrd"), "/proc/self/fd/8");
  EXPECT_THAT(arguments, Contains("file,id=channel,path=/proc/self/fd/9"));
}

TEST(GuestSpec, AKernelParameterThatIsNotOneWordIsRefused) {
  EXPECT_TRUE(ValidateGuestSpec({.kernel_parameters = {"isolcpus=1", "quiet"}}).ok());
  for (const char* bad : {"", "--", "two words", "a=\"b\"", "line\n"}) {
    EXPECT_FALSE(ValidateGuestSpec({.kernel_parameters = {bad}}).ok()) << bad;
  }
}

TEST(GuestSpec, NumbersThatCannotBootAreRefusedByName) {
  const auto message = [](const GuestSpec& spec) { return ValidateGuestSpec(spec).ToString(); };
  EXPECT_THAT(message({.seed = -1}), HasSubstr("seed -1"));
  EXPECT_THAT(message({.cpus = 0}), HasSubstr("0 CPUs"));
  EXPECT_THAT(message({.memory_mib = 16}), HasSubstr("16 MiB"));
  EXPECT_THAT(message({.wire_interval_us = -5}), HasSubstr("-5 us"));
}

}  // namespace
}  // namespace irqprof::lab
