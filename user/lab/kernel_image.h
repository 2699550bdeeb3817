// The kernel a lab boots: found, checked, and made quick to boot.
//
// A bzImage unpacks itself inside the emulator, which costs about 5 s a boot;
// QEMU can also start the unpacked kernel directly (PVH). So the image is
// unpacked here, once, wherever its format and the tools allow; where they do
// not, the bzImage itself is booted. A file that is no x86-64 kernel, is cut
// short or fails its checksum is refused here, by name, before any boot.
#ifndef IRQPROF_LAB_KERNEL_IMAGE_H_
#define IRQPROF_LAB_KERNEL_IMAGE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "user/lab/file.h"

namespace irqprof {

struct LabKernel {
  std::string image;        // a bzImage, or an unpacked x86-64 vmlinux
  std::string modules_dir;  // .../lib/modules/VERSION; empty: all drivers are built in
};

// The newest kernel that scripts/setup unpacked. Places, first hit wins:
// $IRQPROF_LAB, $XDG_CACHE_HOME/irqprof or ~/.cache/irqprof, /var/cache/irqprof;
// below each lab/boot/vmlinuz-VERSION and lab/lib/modules/VERSION/.
absl::StatusOr<LabKernel> FindLabKernel();

namespace lab {

// The same over given places.
absl::StatusOr<LabKernel> FindLabKernelIn(const std::vector<std::string>& places);

// True if version a is older than b: runs of digits compare as numbers.
bool IsOlderVersion(const std::string& a, const std::string& b);

// A descriptor of what QEMU shall boot.
absl::StatusOr<Fd> OpenKernel(const std::string& image);

}  // namespace lab
}  // namespace irqprof

#endif  // IRQPROF_LAB_KERNEL_IMAGE_H_
