#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "user/lab/file.h"
#include "user/lab/kernel_image.h"

namespace irqprof::lab {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// A directory of the test's own.
class KernelImage : public testing::Test {
 protected:
  KernelImage() {
    char name[] = "/tmp/irqprof-test-XXXXXX";
    directory_ = mkdtemp(name);
  }
  ~KernelImage() override { fs::remove_all(directory_); }

  std::string Write(const std::string& name, const std::string& content) {
    const fs::path path = directory_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }

  std::string Compress(const std::string& command, const std::string& content) {
    const std::string plain = Write("plain", content);
    EXPECT_EQ(system(absl::StrCat(command, " < ", plain, " > ", plain, ".packed").c_str()), 0);
    return *ReadFile(plain + ".packed");
  }

  // What QEMU would be given.
  std::string Opened(const std::string& path) {
    const absl::StatusOr<Fd> fd = OpenKernel(path);
    if (!fd.ok()) return "refused: " + std::string(fd.status().message());
    return *ReadFile(absl::StrCat("/proc/self/fd/", fd->get()));
  }

  fs::path directory_;
};

// The smallest x86-64 ELF with the note that lets QEMU start it.
std::string Vmlinux(uint32_t note_type = 18) {
  struct {
    Elf64_Ehdr header = {};
    Elf64_Phdr segment = {};
    Elf64_Nhdr note = {4, 4, 0};
    char name[4] = {'X', 'e', 'n', '\0'};
    uint32_t entry = 0x1000000;
  } file;
  memcpy(file.header.e_ident, ELFMAG, SELFMAG);
  file.header.e_ident[EI_CLASS] = ELFCLASS64;
  file.header.e_machine = EM_X86_64;
  file.header.e_phoff = sizeof(file.header);
  file.header.e_phnum = 1;
  file.segment.p_type = PT_NOTE;
  file.segment.p_offset = offsetof(decltype(file), note);
  file.segment.p_filesz = sizeof(file) - file.segment.p_offset;
  file.note.n_type = note_type;
  return std::string(reinterpret_cast<const char*>(&file), sizeof(file));
}

std::string BzImage(const std::string& payload) {
  std::string bytes(1024, '\0');
  bytes[0x1F1] = 1;  // one setup sector: the payload's offset counts from 1024
  memcpy(&bytes[0x1FE], "\x55\xAA", 2);
  memcpy(&bytes[0x202], "HdrS\x0F\x02", 6);
  bytes[0x236] = 1;
  const uint32_t size = payload.size();
  memcpy(&bytes[0x24C], &size, sizeof(size));
  return bytes + payload + "the rest of the image";
}

TEST_F(KernelImage, IsUnpackedWhereItsFormatIsKnown) {
  const std::string size_as_the_kernel_build_adds_it = "\x01\x02\x03\x04";
  const std::string xz =
      Compress("xz --check=crc32 -c", Vmlinux()) + size_as_the_kernel_build_adds_it;
  EXPECT_EQ(Opened(Write("bz", BzImage(xz))), Vmlinux());
  EXPECT_EQ(Opened(Write("bz", BzImage(Compress("gzip -c", Vmlinux())))), Vmlinux());
}

TEST_F(KernelImage, BootsAsItIsWhereItCannotBeUnpacked) {
  const std::string unknown = BzImage("LZMA or whatever is to come");
  EXPECT_EQ(Opened(Write("bz", unknown)), unknown);
  const std::string no_direct_entry = BzImage(Compress("gzip -c", Vmlinux(/*note_type=*/1)));
  EXPECT_EQ(Opened(Write("bz", no_direct_entry)), no_direct_entry);
}

TEST_F(KernelImage, AnUnpackedOneIsTaken) {
  EXPECT_EQ(Opened(Write("vmlinux", Vmlinux())), Vmlinux());
}

TEST_F(KernelImage, ADamagedOneIsRefusedBeforeAnyBoot) {
  std::string packed = Compress("xz --check=crc32 -c", Vmlinux() + std::string(5000, 'x')) + "size";
  packed[packed.size() / 2] ^= 0x10;
  EXPECT_THAT(Opened(Write("bz", BzImage(packed))), HasSubstr("is damaged"));
}

TEST_F(KernelImage, OneCutShortIsRefused) {
  const std::string whole = BzImage(std::string(4096, 'p'));
  EXPECT_THAT(Opened(Write("bz", whole.substr(0, 2000))), HasSubstr("is cut short"));
  EXPECT_THAT(Opened(Write("vmlinux", Vmlinux().substr(0, 100))), HasSubstr("cannot boot"));
}

TEST_F(KernelImage, WhatIsNoKernelIsRefusedByName) {
  EXPECT_THAT(Opened(Write("empty", "")), HasSubstr("empty is not a Linux kernel image"));
  EXPECT_THAT(Opened(Write("text", std::string(9999, 't'))), HasSubstr("not a Linux kernel"));
  EXPECT_THAT(Opened(directory_ / "absent"), HasSubstr("absent: No such file"));
  EXPECT_THAT(Opened(directory_), HasSubstr("directory"));
  std::string narrow = BzImage("1234567890123456");
  narrow[0x236] = 0;
  EXPECT_THAT(Opened(Write("i386", narrow)), HasSubstr("is not a 64-bit kernel"));
}

TEST_F(KernelImage, NewestWithModulesInTheFirstPlaceIsFound) {
  Write("a/lab/boot/vmlinuz-6.1.0-57-amd64", "");
  Write("a/lab/boot/vmlinuz-6.1.0-9-amd64", "");
  Write("a/lab/boot/vmlinuz-6.12.1-amd64", "");  // its modules are not there
  Write("a/lab/lib/modules/6.1.0-57-amd64/modules.dep", "");
  Write("a/lab/lib/modules/6.1.0-9-amd64/modules.dep", "");
  Write("b/lab/boot/vmlinuz-7.0", "");
  Write("b/lab/lib/modules/7.0/modules.dep", "");
  const std::string here = directory_;
  const auto kernel = FindLabKernelIn({here + "/none", here + "/a", here + "/b"});
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  EXPECT_EQ(kernel->image, here + "/a/lab/boot/vmlinuz-6.1.0-57-amd64");
  EXPECT_EQ(kernel->modules_dir, here + "/a/lab/lib/modules/6.1.0-57-amd64");
}

TEST_F(KernelImage, NoneAnywhereSaysHowToGetOne) {
  const auto kernel = FindLabKernelIn({directory_});
  ASSERT_FALSE(kernel.ok());
  EXPECT_THAT(kernel.status().ToString(), HasSubstr("scripts/setup"));
  EXPECT_THAT(kernel.status().ToString(), HasSubstr("--kernel"));
}

TEST(KernelVersion, DigitsCompareAsNumbers) {
  EXPECT_TRUE(IsOlderVersion("6.1.0-9-amd64", "6.1.0-57-amd64"));
  EXPECT_TRUE(IsOlderVersion("6.1", "6.1.1"));
  EXPECT_TRUE(IsOlderVersion("6.9.0", "6.12.0"));
  EXPECT_FALSE(IsOlderVersion("6.12.0", "6.9.0"));
  EXPECT_FALSE(IsOlderVersion("6.1", "6.1"));
}

}  // namespace
}  // namespace irqprof::lab
