#include "user/lab/lab.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "user/lab/child.h"
#include "user/lab/ending.h"
#include "user/lab/frame.h"
#include "user/lab/modules.h"

namespace irqprof {
namespace {

// How late a stop flag or a time limit may be noticed.
constexpr int kPollTimeoutMs = 200;

constexpr char kQemu[] = "qemu-system-x86_64";

// A modules directory made by another tool may lack one of its indexes.
std::string ReadIndex(const std::string& modules_dir, const char* name) {
  absl::StatusOr<std::string> text = lab::ReadFile(absl::StrCat(modules_dir, "/", name));
  return text.ok() ? *text : "";
}

absl::StatusOr<std::map<std::string, std::vector<std::string>>> ResolveModules(
    const std::string& modules_dir, const std::vector<std::string>& nic_models) {
  std::map<std::string, std::vector<std::string>> modules_of_nic;
  std::error_code ignored;
  if (!modules_dir.empty() && !std::filesystem::is_directory(modules_dir, ignored)) {
    return absl::NotFoundError(absl::StrCat("there is no modules directory ", modules_dir,
                                            "; it is the lib/modules/VERSION of the lab's kernel"));
  }
  const std::string dep = ReadIndex(modules_dir, "modules.dep");
  const std::string builtin = ReadIndex(modules_dir, "modules.builtin");
  if (!modules_dir.empty() && dep.empty() && builtin.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat(modules_dir, " has no modules.dep; run depmod for it first"));
  }
  for (const std::string& nic : nic_models) {
    if (nic.empty()) continue;
    if (modules_dir.empty() && !lab::DriverOfNic(nic).empty()) {
      modules_of_nic[nic] = {};  // the caller says that all is built in
      continue;
    }
    absl::StatusOr<std::vector<std::string>> modules = lab::ModulesForNic(nic, dep, builtin);
    if (!modules.ok()) return modules.status();
    modules_of_nic[nic] = *std::move(modules);
  }
  return modules_of_nic;
}

}  // namespace

// One guest while it runs: its QEMU, the two streams that come from it, and
// what they have told so far.
class Lab::Boot {
 public:
  Boot(int index, const GuestSpec& spec, lab::Child qemu, lab::Fd console, lab::Fd channel)
      : index_(index),
        qemu_(std::move(qemu)),
        console_(std::move(console)),
        channel_(std::move(channel)),
        time_limit_(spec.time_limit),
        silence_limit_(spec.silence_limit) {}

  int index() const { return index_; }
  int console() const { return console_.get(); }
  int channel() const { return channel_.get(); }

  void ReadConsole() {
    const std::string bytes = ReadSome(console_);
    tail_.Append(bytes);
  }

  // Progress is handed on; the last frame decides the outcome.
  void ReadChannel(const Watcher& watcher) {
    frames_.Append(ReadSome(channel_));
    while (!outcome_) {
      absl::StatusOr<std::optional<lab::Frame>> frame = frames_.Next();
      if (!frame.ok()) {
        outcome_ = frame.status();
        return;
      }
      if (!frame->has_value()) return;
      Take(**std::move(frame), watcher);
    }
  }

  // The output or the reason for none, once it is known. By then the guest has
  // nothing left to do that matters, and the Boot may be destroyed.
  std::optional<absl::StatusOr<std::string>> Outcome() {
    if (!outcome_ && !console_.open() && !channel_.open()) outcome_ = Ended();
    if (!outcome_) CheckLimits();
    return outcome_;
  }

 private:
  // What there is, after poll(2) said so; the end closes the descriptor.
  std::string ReadSome(lab::Fd& fd) {
    std::string bytes(64 << 10, '\0');
    const ssize_t got = read(fd.get(), bytes.data(), bytes.size());
    if (got < 0 && errno == EINTR) return "";
    if (got <= 0) fd.Close();
    bytes.resize(std::max<ssize_t>(got, 0));
    last_byte_ = absl::Now();
    return bytes;
  }

  void Take(lab::Frame frame, const Watcher& watcher) {
    switch (frame.kind) {
      case lab::FrameKind::kProgress:
        if (watcher.on_progress) watcher.on_progress(index_, frame.payload);
        return;
      case lab::FrameKind::kResult:
        outcome_ = std::move(frame.payload);
        return;
      case lab::FrameKind::kFailure:
        outcome_ = lab::DecodeStatus(frame.payload);
        return;
    }
  }

  // Both streams ended, and only QEMU's exit ends its standard error.
  absl::Status Ended() {
    const int wait_status = qemu_.Wait();
    if (frames_.HasRest()) {
      return lab::WithConsole(absl::StatusCode::kDataLoss,
                              "the guest ended in the middle of sending its result", tail_.text());
    }
    return lab::ExplainEnding(wait_status, tail_.text());
  }

  void CheckLimits() {
    const absl::Time now = absl::Now();
    std::string sentence;
    if (now - started_ > time_limit_) {
      sentence = absl::StrCat("the guest was not done after ", absl::FormatDuration(time_limit_));
    } else if (now - last_byte_ > silence_limit_) {
      sentence = absl::StrCat("the guest was silent for ", absl::FormatDuration(silence_limit_));
    } else {
      return;
    }
    outcome_ = lab::WithConsole(absl::StatusCode::kDeadlineExceeded,
                                absl::StrCat(sentence, " and was stopped"), tail_.text());
  }

  int index_;
  lab::Child qemu_;
  lab::Fd console_;
  lab::Fd channel_;
  absl::Duration time_limit_;
  absl::Duration silence_limit_;
  absl::Time started_ = absl::Now();
  absl::Time last_byte_ = started_;
  lab::ConsoleTail tail_;
  lab::FrameReader frames_;
  std::optional<absl::StatusOr<std::string>> outcome_;
};

absl::StatusOr<Lab> Lab::Prepare(const LabKernel& kernel, const std::string& program,
                                 const std::vector<std::string>& nic_models) {
  Lab lab;
  lab.qemu_ = lab::FindProgram(kQemu);
  if (lab.qemu_.empty()) {
    return absl::NotFoundError(
        absl::StrCat("the lab needs ", kQemu, "; run scripts/setup or install QEMU for x86"));
  }
  auto modules = ResolveModules(kernel.modules_dir, nic_models);
  if (!modules.ok()) return modules.status();
  lab.modules_of_nic_ = *std::move(modules);
  absl::StatusOr<lab::Fd> image = lab::OpenKernel(kernel.image);
  if (!image.ok()) return image.status();
  lab.kernel_ = *std::move(image);
  std::vector<std::string> module_files;  // those that two NICs share are kept once
  for (const auto& [nic, files] : lab.modules_of_nic_) {
    module_files.insert(module_files.end(), files.begin(), files.end());
  }
  auto base = lab::BuildBaseInitramfs(program, kernel.modules_dir, module_files);
  if (!base.ok()) return base.status();
  lab.base_ = *std::move(base);
  return lab;
}

absl::StatusOr<Lab::Boot> Lab::StartGuest(int index, const GuestSpec& spec) const {
  if (absl::Status valid = lab::ValidateGuestSpec(spec); !valid.ok()) return valid;
  std::vector<std::string> modules;
  if (!spec.nic_model.empty()) {
    const auto found = modules_of_nic_.find(spec.nic_model);
    if (found == modules_of_nic_.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the lab was not prepared for the NIC ", spec.nic_model));
    }
    modules = found->second;
  }
  absl::StatusOr<lab::Fd> initramfs =
      lab::MakeMemoryFile({base_.archive, lab::BuildBootInitramfs(spec.job, modules)});
  if (!initramfs.ok()) return initramfs.status();
  absl::StatusOr<lab::Pipe> console = lab::MakePipe();
  if (!console.ok()) return console.status();
  absl::StatusOr<lab::Pipe> channel = lab::MakePipe();
  if (!channel.ok()) return channel.status();
  // Room for a result, so that a busy host does not slow the guest's sending;
  // without it all still works.
  fcntl(channel->write.get(), F_SETPIPE_SZ, 1 << 20);

  const lab::GuestFiles files = {kernel_.get(), initramfs->get(), channel->write.get()};
  std::vector<std::string> arguments = lab::QemuArguments(spec, files, base_.library_directories);
  arguments.insert(arguments.begin(), qemu_);
  absl::StatusOr<lab::Child> child =
      lab::Child::Start(arguments, {.in = -1,
                                    .out = console->write.get(),
                                    .err = -1,
                                    .shared = {files.kernel, files.initramfs, files.channel}});
  if (!child.ok()) return child.status();
  return Boot(index, spec, *std::move(child), std::move(console->read), std::move(channel->read));
}

absl::Status Lab::RunGuests(std::span<const GuestSpec> specs, int parallel,
                            const Watcher& watcher) const {
  const auto done = [&watcher](int index, absl::StatusOr<std::string> output) {
    if (watcher.on_done) watcher.on_done(index, std::move(output));
  };
  std::vector<Boot> boots;
  size_t next = 0;
  while (next < specs.size() || !boots.empty()) {
    if (watcher.stop != nullptr && *watcher.stop) {
      return absl::CancelledError("the lab was stopped");  // ~Boot kills and reaps
    }
    if (next < specs.size() && boots.size() < static_cast<size_t>(std::max(parallel, 1))) {
      absl::StatusOr<Boot> boot = StartGuest(next, specs[next]);
      if (boot.ok()) {
        boots.push_back(*std::move(boot));
      } else {
        done(next, boot.status());
      }
      ++next;
      continue;
    }
    std::vector<pollfd> streams;  // of boot i: its console at 2 i, its channel at 2 i + 1
    for (const Boot& boot : boots) {
      streams.push_back({boot.console(), POLLIN, 0});  // poll ignores a closed one (-1)
      streams.push_back({boot.channel(), POLLIN, 0});
    }
    // An error is EINTR, of no consequence: then no stream is marked, or all is
    // looked at again next time round.
    if (poll(streams.data(), streams.size(), kPollTimeoutMs) < 0) continue;
    for (size_t i = 0; i < boots.size(); ++i) {
      if (streams[2 * i].revents != 0) boots[i].ReadConsole();
      if (streams[2 * i + 1].revents != 0) boots[i].ReadChannel(watcher);
    }
    for (size_t i = boots.size(); i-- > 0;) {
      std::optional<absl::StatusOr<std::string>> outcome = boots[i].Outcome();
      if (!outcome) continue;
      const int index = boots[i].index();
      boots.erase(boots.begin() + i);
      done(index, *std::move(outcome));
    }
  }
  return absl::OkStatus();
}

}  // namespace irqprof
