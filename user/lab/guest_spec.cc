#include "user/lab/guest_spec.h"

#include <ctype.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "user/lab/contract.h"
#include "user/lab/modules.h"

namespace irqprof::lab {
namespace {

std::string KernelCommandLine(const GuestSpec& spec,
                              const std::vector<std::string>& library_directories) {
  std::vector<std::string> words = {
      "console=ttyS0",
      "loglevel=4",  // errors only: they and panics are what a failure is explained with
      "panic=-1",
      "oops=panic",  // with -no-reboot: a broken kernel ends its QEMU
      "nokaslr",     // equal boots: equal addresses, equal cache and hash behaviour
      // The clock must be the TSC, from before the measurement to after it: no
      // watchdog may take it away. Any other clock is an emulated device, and
      // reading it costs an exit.
      "tsc=reliable",
      "cryptomgr.notests",  // 1.7 s of guest time that test nothing of ours
      "ipv6.disable=1",     // no router solicitations amid the stream
      absl::StrCat("rdinit=", kProgramPath),
      // A word with "=" that the kernel does not know is put into init's environment.
      absl::StrCat("LD_LIBRARY_PATH=", absl::StrJoin(library_directories, ":")),
  };
  words.insert(words.end(), spec.kernel_parameters.begin(), spec.kernel_parameters.end());
  words.push_back("--");
  words.push_back(kGuestArgument);
  return absl::StrJoin(words, " ");
}

std::string GuestDate(int seed) {
  constexpr int kSecondsPerSeed = 11;
  const absl::Time start = absl::FromCivil(absl::CivilSecond(2024, 1, 1), absl::UTCTimeZone());
  return absl::FormatTime("%Y-%m-%dT%H:%M:%S", start + absl::Seconds(kSecondsPerSeed) * seed,
                          absl::UTCTimeZone());
}

void AddNic(const GuestSpec& spec, std::vector<std::string>& arguments) {
  // By default virtio's doorbell and its sending wait for the host's event loop;
  // then two boots differ. So both are kept to the guest's instructions and clock.
  const bool is_virtio = spec.nic_model == "virtio-net-pci";
  const std::string options = is_virtio ? ",ioeventfd=off,tx=timer" : "";
  const std::string sink = absl::StrCat("tcp:", kSinkAddress, ":", kSinkPort);
  const std::vector<std::string> wire = {
      "-chardev", "null,id=sink", "-netdev",
      absl::StrCat("user,id=wire,restrict=on,ipv6=off,guestfwd=", sink, "-chardev:sink"),
      // An empty romfile: without the boot ROM, which would cost seconds.
      "-device", absl::StrCat(spec.nic_model, ",netdev=wire,mac=", kNicMac, ",romfile=", options)};
  arguments.insert(arguments.end(), wire.begin(), wire.end());
  if (spec.wire_interval_us == 0) return;
  arguments.insert(arguments.end(),
                   {"-object", absl::StrCat("filter-buffer,id=hold,netdev=wire,queue=tx,interval=",
                                            spec.wire_interval_us)});
}

absl::Status Refuse(const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat("the lab cannot boot a guest with ", what));
}

}  // namespace

absl::Status ValidateGuestSpec(const GuestSpec& spec) {
  if (spec.seed < 0) return Refuse(absl::StrCat("seed ", spec.seed, "; use 0 or more"));
  if (spec.cpus < 1 || spec.cpus > 64) {
    return Refuse(absl::StrCat(spec.cpus, " CPUs; use 1 to 64"));
  }
  if (spec.memory_mib < 128) {
    return Refuse(absl::StrCat(spec.memory_mib, " MiB of memory; use 128 or more"));
  }
  if (spec.wire_interval_us < 0) {
    return Refuse(absl::StrCat("a wire interval of ", spec.wire_interval_us, " us; use 0 or more"));
  }
  for (const std::string& parameter : spec.kernel_parameters) {
    const bool is_word = !parameter.empty() && parameter != "--" &&
                         std::all_of(parameter.begin(), parameter.end(),
                                     [](unsigned char c) { return isgraph(c) && c != '"'; });
    if (!is_word) {
      return Refuse(absl::StrCat("the kernel parameter \"", parameter,
                                 "\"; it must be one word without quotes"));
    }
  }
  return absl::OkStatus();
}

std::vector<std::string> QemuArguments(const GuestSpec& spec, const GuestFiles& files,
                                       const std::vector<std::string>& library_directories) {
  const auto inherited = [](int fd) { return absl::StrCat("/proc/self/fd/", fd); };
  std::vector<std::string> arguments = {
      "-nodefaults", "-no-user-config", "-no-reboot", "-display", "none", "-machine", "pc",
      "-accel", "tcg",
      // Not "max": its RDRAND hands the guest true randomness of the host.
      "-cpu", "qemu64", "-smp", absl::StrCat(spec.cpus), "-m", absl::StrCat(spec.memory_mib),
      "-kernel", inherited(files.kernel), "-initrd", inherited(files.initramfs), "-append",
      KernelCommandLine(spec, library_directories), "-chardev", "stdio,id=console,signal=off",
      "-serial", "chardev:console", "-chardev",
      absl::StrCat("file,id=channel,path=", inherited(files.channel)), "-serial",
      "chardev:channel"};
  if (spec.repeatable) {
    arguments.insert(arguments.end(), {"-icount", "shift=1,sleep=off", "-rtc",
                                       absl::StrCat("clock=vm,base=", GuestDate(spec.seed))});
  }
  if (!spec.nic_model.empty()) AddNic(spec, arguments);
  return arguments;
}

}  // namespace irqprof::lab
