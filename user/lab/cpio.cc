#include "user/lab/cpio.h"

#include <utility>

#include "absl/strings/str_format.h"

namespace irqprof::lab {
namespace {

constexpr uint32_t kRegularFile = 0100000;
constexpr uint32_t kDirectory = 0040000;

std::string_view WithoutSlash(std::string_view path) {
  while (!path.empty() && path.front() == '/') path.remove_prefix(1);
  return path;
}

}  // namespace

void CpioArchive::Pad(size_t alignment) {
  bytes_.append((alignment - bytes_.size() % alignment) % alignment, '\0');
}

void CpioArchive::AddEntry(std::string_view name, uint32_t mode, std::string_view content) {
  const uint32_t inode = names_.size();
  // A link count above 1 would make the kernel look for hard links.
  constexpr uint32_t kLinks = 1;
  const uint32_t fields[] = {inode,
                             mode,
                             0,
                             0,
                             kLinks,
                             0,
                             static_cast<uint32_t>(content.size()),
                             0,
                             0,
                             0,
                             0,
                             static_cast<uint32_t>(name.size() + 1),
                             0};
  bytes_ += "070701";
  for (uint32_t field : fields) bytes_ += absl::StrFormat("%08X", field);
  bytes_.append(name).push_back('\0');
  Pad(4);
  bytes_.append(content);
  Pad(4);
}

void CpioArchive::AddParents(std::string_view name) {
  const size_t slash = name.rfind('/');
  if (slash != std::string_view::npos) AddDirectory(name.substr(0, slash));
}

void CpioArchive::AddDirectory(std::string_view path) {
  const std::string_view name = WithoutSlash(path);
  if (name.empty() || names_.contains(name)) return;
  AddParents(name);
  names_.emplace(name);
  AddEntry(name, kDirectory | 0755, "");
}

void CpioArchive::AddFile(std::string_view path, std::string_view content, bool executable) {
  const std::string_view name = WithoutSlash(path);
  if (names_.contains(name)) return;
  AddParents(name);
  names_.emplace(name);
  AddEntry(name, kRegularFile | (executable ? 0755 : 0644), content);
}

std::string CpioArchive::Finish() {
  AddEntry("TRAILER!!!", 0, "");
  Pad(512);
  names_.clear();
  return std::exchange(bytes_, {});
}

}  // namespace irqprof::lab
