#include "user/lab/initramfs.h"

#include <elf.h>
#include <link.h>
#include <string.h>

#include <set>

#include "absl/strings/str_cat.h"
#include "user/lab/contract.h"
#include "user/lab/cpio.h"
#include "user/lab/file.h"
#include "user/lab/modules.h"
#include "user/lab/unpack.h"

namespace irqprof::lab {
namespace {

int AddLibrary(dl_phdr_info* object, size_t, void* libraries) {
  // The program itself has no name, the vdso has no slash.
  const std::string name = object->dlpi_name;
  if (name.find('/') != std::string::npos) {
    static_cast<std::set<std::string>*>(libraries)->insert(name);
  }
  return 0;
}

// The dynamic loader that the program's file asks for; empty if it is static.
std::string InterpreterOf(const std::string& program) {
  Elf64_Ehdr header;
  if (program.size() < sizeof(header)) return "";
  memcpy(&header, program.data(), sizeof(header));
  for (int i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    const size_t offset = header.e_phoff + i * sizeof(segment);
    if (offset > program.size() || program.size() - offset < sizeof(segment)) return "";
    memcpy(&segment, program.data() + offset, sizeof(segment));
    if (segment.p_type != PT_INTERP || segment.p_offset >= program.size()) continue;
    return program.substr(segment.p_offset, segment.p_filesz).c_str();  // ends at the NUL
  }
  return "";
}

// The guest's CPU is a plain x86-64. Where the host's loader chose a variant
// for its own better CPU, the one for every CPU lies outside glibc-hwcaps/LEVEL.
std::string BaselineOf(const std::string& library) {
  constexpr char kVariants[] = "/glibc-hwcaps/";
  const size_t start = library.find(kVariants);
  if (start == std::string::npos) return library;
  const size_t level_end = library.find('/', start + strlen(kVariants));
  return library.substr(0, start) + library.substr(level_end);
}

std::string ModuleInGuest(const std::string& module_file) {
  return absl::StrCat(kModuleDirectory, "/", ModuleName(module_file), ".ko");
}

absl::Status AddLibraries(const std::string& program, BaseInitramfs& base, CpioArchive& archive) {
  std::set<std::string> libraries;
  dl_iterate_phdr(AddLibrary, &libraries);
  const std::string interpreter = InterpreterOf(program);
  if (!interpreter.empty()) libraries.insert(interpreter);
  std::set<std::string> directories;
  for (const std::string& mapped : libraries) {
    const std::string library = BaselineOf(mapped);
    absl::StatusOr<std::string> content = ReadFile(library);
    if (!content.ok()) return content.status();
    archive.AddFile(library, *content, /*executable=*/true);
    directories.insert(library.substr(0, library.rfind('/')));
  }
  base.library_directories.assign(directories.begin(), directories.end());
  return absl::OkStatus();
}

absl::Status AddModule(const std::string& modules_dir, const std::string& module_file,
                       CpioArchive& archive) {
  const std::string path = absl::StrCat(modules_dir, "/", module_file);
  absl::StatusOr<std::string> content = ReadFile(path);
  if (!content.ok()) return content.status();
  if (content->compare(0, SELFMAG, ELFMAG) != 0) {
    content = Unpack(*content);
    if (!content.ok()) {
      return absl::Status(content.status().code(),
                          absl::StrCat("the module ", path, " cannot be used: ",
                                       std::string(content.status().message())));
    }
  }
  archive.AddFile(ModuleInGuest(module_file), *content);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<BaseInitramfs> BuildBaseInitramfs(const std::string& program,
                                                 const std::string& modules_dir,
                                                 const std::vector<std::string>& module_files) {
  absl::StatusOr<std::string> content = ReadFile(program);
  if (!content.ok()) return content.status();
  BaseInitramfs base;
  CpioArchive archive;
  archive.AddFile(kProgramPath, *content, /*executable=*/true);
  if (absl::Status added = AddLibraries(*content, base, archive); !added.ok()) return added;
  for (const std::string& module_file : module_files) {
    absl::Status added = AddModule(modules_dir, module_file, archive);
    if (!added.ok()) return added;
  }
  base.archive = archive.Finish();
  return base;
}

std::string BuildBootInitramfs(const std::string& job,
                               const std::vector<std::string>& module_files) {
  std::string list;
  for (const std::string& module_file : module_files) {
    absl::StrAppend(&list, ModuleInGuest(module_file), "\n");
  }
  CpioArchive archive;
  archive.AddFile(kJobPath, job);
  archive.AddFile(kModuleListPath, list);
  return archive.Finish();
}

}  // namespace irqprof::lab
