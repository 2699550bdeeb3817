// The workloads over loopback, without root: what a scenario sees of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

#include "user/collect/clock.h"
#include "user/workload/competitor.h"
#include "user/workload/fd.h"
#include "user/workload/sink.h"
#include "user/workload/stream.h"

namespace irqprof {
namespace {

using ::testing::HasSubstr;

constexpr uint64_t kSomeWork = 100'000;

// 'S' sleeping, 'Z' dead but not reaped, ' ' gone.
char StateOf(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::stringstream text;
  text << file.rdbuf();
  const size_t after_comm = text.str().rfind(") ");
  return after_comm == std::string::npos ? ' ' : text.str()[after_comm + 2];
}

int FirstAllowedCpu() {
  cpu_set_t cpus;
  sched_getaffinity(0, sizeof(cpus), &cpus);
  int cpu = 0;
  while (!CPU_ISSET(cpu, &cpus)) ++cpu;
  return cpu;
}

// A peer of the test's own: it does what a sink never would.
class Listener {
 public:
  Listener() : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(listen(socket_.get(), 1), 0);
    socklen_t length = sizeof(address);
    getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&address), &length);
    port_ = ntohs(address.sin_port);
  }
  uint16_t port() const { return port_; }
  Fd Accept() { return Fd(accept(socket_.get(), nullptr, nullptr)); }

 private:
  Fd socket_;
  uint16_t port_ = 0;
};

StreamSpec To(uint16_t port) {
  StreamSpec spec;
  spec.address = "127.0.0.1";
  spec.port = port;
  return spec;
}

void WaitUntilDead(pid_t pid) {
  siginfo_t info;
  ASSERT_EQ(waitid(P_PID, pid, &info, WEXITED | WNOWAIT), 0);
}

TEST(SpinWork, EveryStepIsReallyDone) {
  for (uint64_t iterations : {0, 1, 2, 3, 1000, 65'537})
    EXPECT_EQ(SpinWork(iterations), SpinChecksum(iterations)) << iterations;
  EXPECT_NE(SpinChecksum(1000), SpinChecksum(1001));
}

TEST(SizeWork, IsRoundedToTwoDigitsSoThatRepeatedCallsAgree) {
  uint64_t iterations = SizeWork(0.5);
  EXPECT_GT(iterations, 1000u);
  while (iterations % 10 == 0) iterations /= 10;
  EXPECT_LT(iterations, 100u);
}

TEST(SizeWork, OfNoTimeIsStillOneStep) {
  EXPECT_EQ(SizeWork(0), 1u);
  EXPECT_EQ(SizeWork(-1), 1u);
}

TEST(Competitor, WaitsForTheGateAndCanBeReadAfterItsDeath) {
  pid_t before = 0;
  pid_t after = 0;
  CompetitorCallbacks callbacks;
  callbacks.before_gate = [&](pid_t pid) {
    before = pid;
    EXPECT_NE(StateOf(pid), 'Z');
    EXPECT_NE(StateOf(pid), ' ');
    return absl::OkStatus();
  };
  callbacks.after_exit = [&](pid_t pid) {
    after = pid;
    EXPECT_EQ(StateOf(pid), 'Z');
    return absl::OkStatus();
  };
  const auto times = RunCompetitor(kSomeWork, -1, callbacks);
  ASSERT_TRUE(times.ok()) << times.status();
  EXPECT_EQ(times->pid, before);
  EXPECT_EQ(times->pid, after);
  EXPECT_GT(times->real_ns, 0);
  EXPECT_EQ(StateOf(times->pid), ' ') << "it was not reaped";
}

TEST(Competitor, RealTimeCoversItsWork) {
  const uint64_t iterations = 20'000'000;
  const auto times = RunCompetitor(iterations, -1, {});
  ASSERT_TRUE(times.ok()) << times.status();
  // no CPU does one dependent multiplication in less than a tenth of a ns
  EXPECT_GT(times->real_ns, static_cast<int64_t>(iterations / 10));
  EXPECT_GT(times->user_ns + times->sys_ns, 0);
}

TEST(Competitor, RunsOnTheCpuItIsGiven) {
  const int cpu = FirstAllowedCpu();
  CompetitorCallbacks callbacks;
  callbacks.before_gate = [&](pid_t pid) {
    cpu_set_t cpus;
    EXPECT_EQ(sched_getaffinity(pid, sizeof(cpus), &cpus), 0);
    EXPECT_EQ(CPU_COUNT(&cpus), 1);
    EXPECT_TRUE(CPU_ISSET(cpu, &cpus));
    return absl::OkStatus();
  };
  EXPECT_TRUE(RunCompetitor(kSomeWork, cpu, callbacks).ok());
}

TEST(Competitor, AbsentCpuIsRefused) {
  const auto times = RunCompetitor(kSomeWork, 100'000, {});
  EXPECT_THAT(times.status().message(), HasSubstr("Cannot pin the competitor to CPU 100000"));
}

TEST(Competitor, StopFlagKillsIt) {
  std::atomic<bool> stop = false;
  pid_t competitor = 0;
  CompetitorCallbacks callbacks;
  callbacks.before_gate = [&](pid_t pid) {
    competitor = pid;
    stop = true;
    return absl::OkStatus();
  };
  const auto times = RunCompetitor(UINT64_MAX, -1, callbacks, &stop);
  EXPECT_EQ(times.status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(StateOf(competitor), ' ');
}

TEST(Competitor, FailedSnapshotEndsTheRun) {
  CompetitorCallbacks callbacks;
  callbacks.before_gate = [](pid_t) { return absl::UnavailableError("no snapshot"); };
  EXPECT_EQ(RunCompetitor(UINT64_MAX, -1, callbacks).status().message(), "no snapshot");
}

TEST(Competitor, KilledByAnotherIsToldApartFromDone) {
  CompetitorCallbacks callbacks;
  callbacks.before_gate = [](pid_t pid) {
    kill(pid, SIGKILL);
    return absl::OkStatus();
  };
  const auto times = RunCompetitor(UINT64_MAX, -1, callbacks);
  EXPECT_THAT(times.status().message(), HasSubstr("was killed by signal 9"));
}

TEST(Stream, FlowsIntoTheSinkAndCountsTheWindow) {
  const auto sink = Sink::Start({});
  ASSERT_TRUE(sink.ok()) << sink.status();
  auto stream = Stream::Start(To(sink->port()));
  ASSERT_TRUE(stream.ok()) << stream.status();
  const pid_t pid = stream->pid();
  ASSERT_TRUE(stream->WaitUntilFlowing().ok());
  const StreamMark begin = stream->Mark();
  EXPECT_GE(begin.bytes, StreamSpec().flowing_bytes);
  StreamMark end = stream->Mark();
  while (end.bytes < begin.bytes + (1 << 20)) end = stream->Mark();
  EXPECT_GT(MibPerS(begin, end), 0);

  const auto result = stream->Stop();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->pid, pid);
  EXPECT_GE(result->bytes, end.bytes);
  EXPECT_GT(result->elapsed_ns, 0);
  EXPECT_GT(result->mib_per_s, 0);
  EXPECT_EQ(StateOf(pid), ' ') << "it was not reaped";
}

TEST(Stream, SinkServesOneStreamAfterTheOther) {
  const auto sink = Sink::Start({});
  ASSERT_TRUE(sink.ok()) << sink.status();
  for (int round = 0; round < 3; ++round) {
    auto stream = Stream::Start(To(sink->port()));
    ASSERT_TRUE(stream.ok()) << stream.status();
    EXPECT_TRUE(stream->WaitUntilFlowing().ok());
    EXPECT_TRUE(stream->Stop().ok());
  }
}

TEST(Stream, ReceivesFromASinkThatSends) {
  SinkSpec source;
  source.direction = Direction::kSend;
  source.address = "::1";
  auto sink = Sink::Start(source);
  if (!sink.ok()) {  // a host without IPv6
    source.address = "127.0.0.1";
    sink = Sink::Start(source);
  }
  ASSERT_TRUE(sink.ok()) << sink.status();
  StreamSpec spec = To(sink->port());
  spec.address = source.address;
  spec.direction = Direction::kReceive;
  auto stream = Stream::Start(spec);
  ASSERT_TRUE(stream.ok()) << stream.status();
  EXPECT_TRUE(stream->WaitUntilFlowing().ok());
  const auto result = stream->Stop();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_GE(result->bytes, spec.flowing_bytes);
}

TEST(Stream, CountsWhatThePeerGotNotWhatWasBuffered) {
  Listener listener;
  StreamSpec spec = To(listener.port());
  spec.flowing_bytes = 1;
  auto stream = Stream::Start(spec);
  ASSERT_TRUE(stream.ok()) << stream.status();
  Fd peer = listener.Accept();
  // every byte is read, so afterwards none is in a buffer
  std::string buffer(1 << 16, '\0');
  int64_t read_bytes = 0;
  while (read_bytes < (4 << 20)) {
    const ssize_t got = recv(peer.get(), buffer.data(), buffer.size(), 0);
    ASSERT_GT(got, 0);
    read_bytes += got;
  }
  EXPECT_GE(stream->Mark().bytes, read_bytes - (8 << 20));
  const auto result = stream->Stop();
  ASSERT_TRUE(result.ok()) << result.status();
  for (ssize_t got; (got = recv(peer.get(), buffer.data(), buffer.size(), 0)) > 0;)
    read_bytes += got;
  EXPECT_LE(result->bytes, read_bytes);
}

TEST(Stream, RefusedConnectionSaysThatNothingListens) {
  uint16_t closed_port;
  { closed_port = Listener().port(); }
  const auto stream = Stream::Start(To(closed_port));
  EXPECT_THAT(stream.status().message(), HasSubstr("Nothing listens at 127.0.0.1:"));
}

TEST(Stream, HostNameIsRefused) {
  StreamSpec spec = To(1);
  spec.address = "localhost";
  EXPECT_THAT(Stream::Start(spec).status().message(),
              HasSubstr("\"localhost\" is not an IP address"));
}

TEST(Stream, EmptyBlockIsRefused) {
  StreamSpec spec = To(1);
  spec.block_bytes = 0;
  EXPECT_THAT(Stream::Start(spec).status().message(), HasSubstr("blocks of 0 bytes"));
}

TEST(Stream, PeerThatClosesAtOnceIsNamed) {
  Listener listener;
  StreamSpec spec = To(listener.port());
  spec.flowing_bytes = int64_t{1} << 40;
  auto stream = Stream::Start(spec);
  ASSERT_TRUE(stream.ok()) << stream.status();
  listener.Accept().Close();
  EXPECT_THAT(stream->WaitUntilFlowing().message(), HasSubstr("closed the stream after"));
}

TEST(Stream, PeerThatClosesMidwayFailsTheStop) {
  Listener listener;
  StreamSpec spec = To(listener.port());
  spec.flowing_bytes = 1;
  auto stream = Stream::Start(spec);
  ASSERT_TRUE(stream.ok()) << stream.status();
  Fd peer = listener.Accept();
  EXPECT_TRUE(stream->WaitUntilFlowing().ok());
  peer.Close();
  WaitUntilDead(stream->pid());
  EXPECT_THAT(stream->Stop().status().message(), HasSubstr("closed the stream after"));
}

TEST(Stream, SourceThatClosesFailsTheReceiver) {
  Listener listener;
  StreamSpec spec = To(listener.port());
  spec.direction = Direction::kReceive;
  auto stream = Stream::Start(spec);
  ASSERT_TRUE(stream.ok()) << stream.status();
  listener.Accept().Close();
  EXPECT_THAT(stream->WaitUntilFlowing().message(), HasSubstr("closed the stream after 0 bytes"));
}

TEST(Stream, PeerThatDoesNotReadIsNamedInBoundedTime) {
  Listener listener;
  StreamSpec spec = To(listener.port());
  spec.flowing_bytes = int64_t{1} << 40;  // more than any buffer takes
  spec.stall_limit = absl::Milliseconds(50);
  auto stream = Stream::Start(spec);
  ASSERT_TRUE(stream.ok()) << stream.status();
  const Fd peer = listener.Accept();
  const absl::Status flowing = stream->WaitUntilFlowing();
  EXPECT_EQ(flowing.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(flowing.message(), HasSubstr("check that the peer reads"));
}

TEST(Stream, StallBeforeTheEndFailsTheStop) {
  Listener listener;
  StreamSpec spec = To(listener.port());
  spec.direction = Direction::kReceive;
  spec.stall_limit = absl::Milliseconds(20);
  auto stream = Stream::Start(spec);
  ASSERT_TRUE(stream.ok()) << stream.status();
  const Fd silent = listener.Accept();
  EXPECT_FALSE(stream->WaitUntilFlowing().ok());
  EXPECT_THAT(stream->Stop().status().message(), HasSubstr("nothing moved for 20ms"));
}

TEST(Stream, StopFlagEndsTheWait) {
  Listener listener;
  std::atomic<bool> stop = true;
  auto stream = Stream::Start(To(listener.port()));
  ASSERT_TRUE(stream.ok()) << stream.status();
  EXPECT_EQ(stream->WaitUntilFlowing(&stop).code(), absl::StatusCode::kCancelled);
}

TEST(Sink, TakenPortIsNamed) {
  const auto first = Sink::Start({});
  ASSERT_TRUE(first.ok()) << first.status();
  SinkSpec spec;
  spec.port = first->port();
  EXPECT_THAT(Sink::Start(spec).status().message(), HasSubstr("cannot listen at 127.0.0.1:"));
}

TEST(Sink, WhatIsNoNetworkNamespaceIsRefused) {
  Fd pipe_ends[2];
  int fds[2];
  ASSERT_EQ(pipe(fds), 0);
  for (int i : {0, 1}) pipe_ends[i] = Fd(fds[i]);
  SinkSpec spec;
  spec.netns_fd = fds[0];
  EXPECT_THAT(Sink::Start(spec).status().message(),
              HasSubstr("cannot enter its network namespace"));
}

TEST(Child, DoesNotOutliveItsParent) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);  // orphans come to us
  Fd read_end, write_end;
  int fds[2];
  ASSERT_EQ(pipe(fds), 0);
  read_end = Fd(fds[0]);
  write_end = Fd(fds[1]);
  const pid_t parent = fork();
  if (parent == 0) {
    const auto sink = Sink::Start({});
    const pid_t pid = sink.ok() ? sink->pid() : 0;
    if (write(write_end.get(), &pid, sizeof(pid)) != sizeof(pid)) _exit(1);
    kill(getpid(), SIGKILL);
  }
  pid_t sink = 0;
  ASSERT_EQ(read(read_end.get(), &sink, sizeof(sink)), static_cast<ssize_t>(sizeof(sink)));
  ASSERT_GT(sink, 0);
  ASSERT_EQ(waitpid(parent, nullptr, 0), parent);
  int status = 0;
  ASSERT_EQ(waitpid(sink, &status, 0), sink);
  EXPECT_TRUE(WIFSIGNALED(status));
  prctl(PR_SET_CHILD_SUBREAPER, 0);
}

}  // namespace
}  // namespace irqprof
