// CpioArchive writes what the Linux kernel unpacks as an initramfs: the "newc"
// format of cpio(5), a 110-byte header of hexadecimal fields before each name
// and each content, both padded to 4 bytes.
//
// The bytes depend on nothing but what was added: no times, no owners (all is
// root's), inode numbers count from 1. Directories on the way to a file are
// added by themselves. Archives may be concatenated: Finish() pads to 512
// bytes, so what follows is aligned, and the kernel lets the later one win.
//
// It does not read archives, and knows regular files and directories only.
#ifndef IRQPROF_LAB_CPIO_H_
#define IRQPROF_LAB_CPIO_H_

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace irqprof::lab {

class CpioArchive {
 public:
  // `path` is absolute in the guest. A path added twice is kept once, the first.
  void AddFile(std::string_view path, std::string_view content, bool executable = false);
  void AddDirectory(std::string_view path);

  // Closes the archive and hands it out; this object is empty afterwards.
  std::string Finish();

 private:
  void AddEntry(std::string_view name, uint32_t mode, std::string_view content);
  void AddParents(std::string_view name);
  void Pad(size_t alignment);

  std::string bytes_;
  std::set<std::string, std::less<>> names_;
};

}  // namespace irqprof::lab

#endif  // IRQPROF_LAB_CPIO_H_
