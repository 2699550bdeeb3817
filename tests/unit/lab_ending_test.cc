#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "user/lab/ending.h"

namespace irqprof::lab {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr int kExitedFine = 0;
constexpr int kExitedWith1 = 1 << 8;

std::string Message(const absl::Status& status) { return std::string(status.message()); }

TEST(Ending, AProgramThatExitsIsToldWithItsStatus) {
  const absl::Status status = ExplainEnding(
      kExitedFine,
      "[    1.5] Kernel panic - not syncing: Attempted to kill init! exitcode=0x00000700\r\n");
  EXPECT_THAT(Message(status),
              StartsWith("the program in the guest ended with status 7 without a result"));
}

TEST(Ending, AProgramThatCrashesIsToldWithItsSignal) {
  const absl::Status status = ExplainEnding(
      kExitedFine,
      "[    1.5] Kernel panic - not syncing: Attempted to kill init! exitcode=0x0000000b\r\n");
  EXPECT_THAT(Message(status), HasSubstr("killed by signal 11"));
}

TEST(Ending, AKernelPanicIsToldInItsOwnWords) {
  const absl::Status status = ExplainEnding(
      kExitedFine, "[    0.8] Kernel panic - not syncing: No working init found.  Try passing\r\n");
  EXPECT_TRUE(absl::IsAborted(status));
  EXPECT_THAT(Message(status), StartsWith("the guest's kernel panicked: No working init found."));
}

TEST(Ending, ThePanicsRegistersDoNotHideTheProgramsLastWords) {
  std::string console =
      "terminate called without an active exception\r\n"
      "[ 1.5] Kernel panic - not syncing: Attempted to kill init! exitcode=0x00000006\r\n";
  for (int i = 0; i < 50; ++i) absl::StrAppend(&console, "[ 1.6] RAX: ", i, "\r\n");
  const std::string message = Message(ExplainEnding(kExitedFine, console));
  EXPECT_THAT(message, HasSubstr("terminate called without an active exception"));
  EXPECT_THAT(message, Not(HasSubstr("RAX")));
}

TEST(Ending, OutOfMemoryOutranksThePanicItCauses) {
  const absl::Status status = ExplainEnding(
      kExitedFine,
      "[ 2.1] Out of memory: Killed process 1 (irqprof)\r\n"
      "[ 2.2] Kernel panic - not syncing: Attempted to kill init! exitcode=0x00000009\r\n");
  EXPECT_TRUE(absl::IsResourceExhausted(status));
  EXPECT_THAT(Message(status), HasSubstr("memory_mib"));
}

TEST(Ending, QemuThatRefusesToStartIsQuoted) {
  const absl::Status status = ExplainEnding(
      kExitedWith1, "qemu-system-x86_64: -device tulip: 'tulip' is not a valid device\n");
  EXPECT_TRUE(absl::IsUnavailable(status));
  EXPECT_THAT(Message(status), StartsWith("QEMU ended with status 1 without a result"));
  EXPECT_THAT(Message(status), HasSubstr("'tulip' is not a valid device"));
}

TEST(Ending, SwitchingOffWithoutAResultIsAFailure) {
  EXPECT_THAT(Message(ExplainEnding(kExitedFine, "")), HasSubstr("console is empty"));
}

TEST(Ending, OnlyTheLastLinesAreShown) {
  std::string console;
  for (int i = 0; i < 100; ++i) absl::StrAppend(&console, "line ", i, "\r\n");
  const std::string message =
      Message(WithConsole(absl::StatusCode::kInternal, "it failed", console));
  EXPECT_THAT(message, StartsWith("it failed; its console ends:\n    line 85\n"));
  EXPECT_THAT(message, HasSubstr("line 99"));
  EXPECT_THAT(message, Not(HasSubstr("line 84")));
}

TEST(Ending, AGuestCannotSendEscapesToTheTerminal) {
  const std::string message =
      Message(WithConsole(absl::StatusCode::kInternal, "it failed", "\x1B[2Jgone\x07\x7F\r\n"));
  EXPECT_THAT(message, HasSubstr("?[2Jgone??"));
}

TEST(Ending, AFloodOfConsoleKeepsItsEndOnly) {
  ConsoleTail tail;
  size_t largest = 0;
  for (int i = 0; i < 3000; ++i) {
    tail.Append(std::string(1000, 'x'));
    largest = std::max(largest, tail.text().size());
  }
  tail.Append("last words");
  EXPECT_LE(largest, 1u << 18);
  EXPECT_THAT(tail.text(), testing::EndsWith("last words"));
}

}  // namespace
}  // namespace irqprof::lab
