#include "user/lab/kernel_image.h"

#include <ctype.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "user/lab/unpack.h"

namespace irqprof {
namespace lab {
namespace {

namespace fs = std::filesystem;

// Offsets in a bzImage: Documentation/arch/x86/boot.rst of the kernel.
constexpr size_t kSetupSectors = 0x1F1;
constexpr size_t kBootFlag = 0x1FE;
constexpr size_t kHeaderMagic = 0x202;
constexpr size_t kProtocolVersion = 0x206;
constexpr size_t kLoadFlags = 0x236;  // xloadflags; bit 0: has the 64-bit entry
constexpr size_t kPayloadOffset = 0x248;
constexpr size_t kPayloadLength = 0x24C;
constexpr size_t kHeaderEnd = 0x250;

constexpr uint32_t kPvhEntryNote = 18;  // XEN_ELFNOTE_PHYS32_ENTRY

// False if the bytes do not reach that far.
template <typename T>
bool ReadAt(std::string_view bytes, size_t offset, T* value) {
  if (offset > bytes.size() || sizeof(T) > bytes.size() - offset) return false;
  memcpy(value, bytes.data() + offset, sizeof(T));
  return true;
}

bool NotesHavePvhEntry(std::string_view notes) {
  Elf64_Nhdr note;
  while (ReadAt(notes, 0, &note)) {
    const size_t name_size = (note.n_namesz + size_t{3}) / 4 * 4;
    const size_t size = sizeof(note) + name_size + (note.n_descsz + size_t{3}) / 4 * 4;
    if (size > notes.size()) return false;
    if (note.n_type == kPvhEntryNote && notes.substr(sizeof(note), 4) == std::string_view("Xen", 4))
      return true;
    notes.remove_prefix(size);
  }
  return false;
}

bool IsElf(std::string_view bytes) { return bytes.substr(0, SELFMAG) == ELFMAG; }

// An x86-64 vmlinux that QEMU can start directly, with all its segments there.
bool IsBootableElf(std::string_view bytes) {
  Elf64_Ehdr header;
  if (!IsElf(bytes) || !ReadAt(bytes, 0, &header)) return false;
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_X86_64) return false;
  bool has_entry = false;
  for (int i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (!ReadAt(bytes, header.e_phoff + i * sizeof(segment), &segment)) return false;
    if (segment.p_offset > bytes.size() || segment.p_filesz > bytes.size() - segment.p_offset)
      return false;
    if (segment.p_type == PT_NOTE) {
      has_entry |= NotesHavePvhEntry(bytes.substr(segment.p_offset, segment.p_filesz));
    }
  }
  return has_entry;
}

absl::Status Refuse(const std::string& image, const char* why) {
  return absl::InvalidArgumentError(
      absl::StrCat("the kernel ", image, " ", why,
                   "; give an x86-64 bzImage with --kernel, or run scripts/setup for a fresh one"));
}

// The compressed vmlinux inside a bzImage.
absl::StatusOr<std::string_view> FindPayload(const std::string& image, std::string_view bytes) {
  uint16_t boot_flag = 0, protocol = 0, load_flags = 0;
  uint8_t setup_sectors = 0;
  uint32_t offset = 0, length = 0;
  if (!ReadAt(bytes, kBootFlag, &boot_flag) || boot_flag != 0xAA55 ||
      bytes.substr(kHeaderMagic, 4) != "HdrS" || bytes.size() < kHeaderEnd) {
    return Refuse(image, "is not a Linux kernel image");
  }
  ReadAt(bytes, kProtocolVersion, &protocol);
  ReadAt(bytes, kLoadFlags, &load_flags);
  if (protocol < 0x20C || (load_flags & 1) == 0) return Refuse(image, "is not a 64-bit kernel");
  ReadAt(bytes, kSetupSectors, &setup_sectors);
  ReadAt(bytes, kPayloadOffset, &offset);
  ReadAt(bytes, kPayloadLength, &length);
  const size_t start = (size_t{setup_sectors} + 1) * 512 + offset;
  if (start > bytes.size() || length > bytes.size() - start || length < 16) {
    return Refuse(image, "is cut short");
  }
  return bytes.substr(start, length);
}

std::vector<std::string> CachePlaces() {
  std::vector<std::string> places;
  const auto add = [&places](const char* variable, const char* below) {
    const char* value = getenv(variable);
    if (value == nullptr || value[0] == '\0') return false;
    places.push_back(absl::StrCat(value, below));
    return true;
  };
  add("IRQPROF_LAB", "");
  if (!add("XDG_CACHE_HOME", "/irqprof")) add("HOME", "/.cache/irqprof");
  places.push_back("/var/cache/irqprof");
  return places;
}

}  // namespace

bool IsOlderVersion(const std::string& a, const std::string& b) {
  size_t i = 0, j = 0;
  const auto number = [](const std::string& text, size_t& at) {
    uint64_t value = 0;
    for (; at < text.size() && isdigit(text[at]); ++at) value = value * 10 + (text[at] - '0');
    return value;
  };
  while (i < a.size() && j < b.size()) {
    if (isdigit(a[i]) && isdigit(b[j])) {
      const uint64_t left = number(a, i), right = number(b, j);
      if (left != right) return left < right;
    } else {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i, ++j;
    }
  }
  return j < b.size();
}

absl::StatusOr<Fd> OpenKernel(const std::string& image) {
  absl::StatusOr<std::string> bytes = ReadFile(image);
  if (!bytes.ok()) return bytes.status();
  if (IsElf(*bytes)) {
    if (!IsBootableElf(*bytes)) return Refuse(image, "is an ELF file that QEMU cannot boot");
    return MakeMemoryFile({*bytes});
  }
  absl::StatusOr<std::string_view> payload = FindPayload(image, *bytes);
  if (!payload.ok()) return payload.status();
  // gzip keeps the unpacked size itself; behind other streams the kernel's build
  // puts 4 bytes with it.
  const bool is_gzip = payload->substr(0, 2) == "\x1F\x8B";
  if (!is_gzip) payload->remove_suffix(4);
  absl::StatusOr<std::string> unpacked = Unpack(*payload);
  if (absl::IsDataLoss(unpacked.status()))
    return Refuse(image, "is damaged: its checksum is wrong");
  const bool direct = unpacked.ok() && IsBootableElf(*unpacked);
  return MakeMemoryFile({direct ? *unpacked : *bytes});
}

absl::StatusOr<LabKernel> FindLabKernelIn(const std::vector<std::string>& places) {
  constexpr std::string_view kPrefix = "vmlinuz-";
  for (const std::string& place : places) {
    std::string newest;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(absl::StrCat(place, "/lab/boot"), error)) {
      const std::string name = entry.path().filename();
      if (name.rfind(kPrefix, 0) != 0) continue;
      const std::string version = name.substr(kPrefix.size());
      std::error_code ignored;
      if (!fs::is_directory(absl::StrCat(place, "/lab/lib/modules/", version), ignored)) continue;
      if (newest.empty() || IsOlderVersion(newest, version)) newest = version;
    }
    if (newest.empty()) continue;
    return LabKernel{absl::StrCat(place, "/lab/boot/vmlinuz-", newest),
                     absl::StrCat(place, "/lab/lib/modules/", newest)};
  }
  return absl::NotFoundError(absl::StrCat(
      "there is no kernel for the lab in ", absl::StrJoin(places, ", "),
      "; run scripts/setup, which fetches one, or pass --kernel BZIMAGE and --modules DIR"));
}

}  // namespace lab

absl::StatusOr<LabKernel> FindLabKernel() { return lab::FindLabKernelIn(lab::CachePlaces()); }

}  // namespace irqprof
