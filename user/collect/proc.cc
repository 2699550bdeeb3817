#include "user/collect/proc.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <cstring>
#include <filesystem>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "user/collect/clock.h"

namespace irqprof {
namespace {

namespace fs = std::filesystem;

std::string_view NextToken(std::string_view& rest) {
  size_t begin = rest.find_first_not_of(" \t");
  if (begin == std::string_view::npos) {
    rest = {};
    return {};
  }
  size_t end = rest.find_first_of(" \t", begin);
  std::string_view token = rest.substr(begin, end - begin);
  rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end);
  return token;
}

template <typename Number>
std::optional<Number> ToNumber(std::string_view token) {
  Number value{};
  auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), value);
  if (error != std::errc{} || end != token.data() + token.size() || token.empty())
    return std::nullopt;
  return value;
}

std::optional<ProcStatCpu> ParseCpuRow(std::string_view row) {
  std::string_view tag = NextToken(row);
  std::optional<int> cpu = ToNumber<int>(tag.substr(3));
  if (!cpu) return std::nullopt;  // the aggregate row: never used, see the header
  ProcStatCpu parsed;
  parsed.cpu = *cpu;
  for (auto& ticks : parsed.ticks) ticks = ToNumber<uint64_t>(NextToken(row));
  return parsed;
}

std::vector<int> NumericNames(const fs::path& directory) {
  std::vector<int> numbers;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error))
    if (auto number = ToNumber<int>(entry.path().filename().string())) numbers.push_back(*number);
  return numbers;
}

NicFact ReadNic(const fs::path& directory) {
  NicFact nic;
  nic.netdev = directory.filename();
  std::error_code error;
  fs::path device = fs::canonical(directory / "device", error);
  if (error) return nic;
  nic.driver = fs::read_symlink(device / "driver", error).filename();
  // A virtio device's lines belong to the PCI device it sits on; a USB one has
  // none: its bus controller's line is not its own.
  fs::path subsystem = fs::read_symlink(device / "subsystem", error).filename();
  fs::path owner = subsystem == "virtio" ? device.parent_path() : device;
  nic.msi = NumericNames(owner / "msi_irqs");
  if (auto text = ReadTextFile(owner / "irq"); text.ok() && nic.msi.empty())
    if (auto irq = ToNumber<int>(std::string_view(*text).substr(0, text->find('\n'))))
      nic.intx.push_back(*irq);
  return nic;
}

std::optional<ProcTask> ReadTask(int pid) {
  const std::string directory = absl::StrCat("/proc/", pid, "/");
  auto stat = ReadTextFile(directory + "stat");
  auto schedstat = ReadTextFile(directory + "schedstat");
  if (!stat.ok()) return std::nullopt;
  std::optional<PidStat> parsed = ParsePidStat(*stat);
  if (!parsed) return std::nullopt;
  ProcTask task{pid, parsed->utime_ticks, parsed->stime_ticks, 0};
  if (schedstat.ok()) {
    std::string_view rest = *schedstat;
    task.runtime_ns = ToNumber<uint64_t>(NextToken(rest)).value_or(0);
  }
  return task;
}

}  // namespace

absl::StatusOr<std::string> ReadTextFile(const std::string& path) {
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return absl::ErrnoToStatus(errno, absl::StrCat("cannot read ", path));
  auto closer = absl::MakeCleanup([fd] { close(fd); });
  std::string text;
  char chunk[65536];
  ssize_t got;
  while ((got = read(fd, chunk, sizeof(chunk))) > 0) text.append(chunk, got);
  if (got < 0) return absl::ErrnoToStatus(errno, absl::StrCat("cannot read ", path));
  return text;
}

ProcStat ParseProcStat(std::string_view text) {
  ProcStat stat;
  while (!text.empty()) {
    size_t end = text.find('\n');
    if (end == std::string_view::npos) {
      stat.truncated = true;
      break;
    }
    std::string_view row = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (row.starts_with("cpu")) {
      if (auto cpu = ParseCpuRow(row)) stat.cpus.push_back(*cpu);
    } else if (row.starts_with("intr ")) {
      row.remove_prefix(5);
      stat.intr_total = ToNumber<uint64_t>(NextToken(row));
    }
  }
  return stat;
}

std::optional<PidStat> ParsePidStat(std::string_view text) {
  size_t open = text.find('(');
  size_t close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open)
    return std::nullopt;
  PidStat stat;
  stat.comm = text.substr(open + 1, close - open - 1);
  std::string_view rest = text.substr(close + 1);
  // state is field 3 of proc(5), utime 14, stime 15
  for (int field = 3; field < 14; ++field) NextToken(rest);
  auto utime = ToNumber<uint64_t>(NextToken(rest));
  auto stime = ToNumber<uint64_t>(NextToken(rest));
  if (!utime || !stime) return std::nullopt;
  stat.utime_ticks = *utime;
  stat.stime_ticks = *stime;
  return stat;
}

std::vector<int> ParseCpuList(std::string_view text) {
  std::vector<int> cpus;
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  while (!text.empty()) {
    std::string_view range = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), range.size() + 1));
    std::string_view first = range.substr(0, range.find('-'));
    std::string_view last = first.size() == range.size() ? first : range.substr(first.size() + 1);
    auto from = ToNumber<int>(first), to = ToNumber<int>(last);
    if (!from || !to || *from < 0 || *to < *from || *to >= 1 << 20) return {};
    for (int cpu = *from; cpu <= *to; ++cpu) cpus.push_back(cpu);
  }
  return cpus;
}

absl::StatusOr<KernelReading> ReadKernel(const std::vector<int>& pids) {
  KernelReading reading;
  auto stat = ReadTextFile("/proc/stat");
  if (!stat.ok()) return stat.status();
  reading.stat = ParseProcStat(*stat);
  for (int pid : pids)
    if (auto task = ReadTask(pid)) reading.tasks.push_back(*task);
  reading.at_ns = MonotonicNs();
  return reading;
}

std::vector<NicFact> ReadNics(const std::string& sys_class_net) {
  std::vector<NicFact> nics;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(sys_class_net, error))
    if (entry.is_directory(error)) nics.push_back(ReadNic(entry.path()));  // not bonding_masters
  return nics;
}

std::map<uint64_t, std::string> ReadCgroupPaths(const std::string& root) {
  std::map<uint64_t, std::string> paths;
  // hybrid hosts mount v2 one level deeper
  std::error_code error;
  fs::path mount = fs::exists(root + "/cgroup.controllers", error) ? root : root + "/unified";
  struct stat status;
  if (!fs::exists(mount / "cgroup.controllers", error)) return paths;
  if (stat(mount.c_str(), &status) == 0) paths[status.st_ino] = "/";
  auto options = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator it(mount, options, error), end; !error && it != end;
       it.increment(error)) {
    if (it->is_directory(error) && stat(it->path().c_str(), &status) == 0)
      paths[status.st_ino] = it->path().string().substr(mount.string().size());
  }
  return paths;
}

}  // namespace irqprof
