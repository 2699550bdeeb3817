// Which kernel modules a NIC of the lab needs, and in which order to load them.
//
// Pure over the text of a modules directory's modules.dep and modules.builtin.
// A driver that is built into the kernel needs nothing; one that is neither
// built in nor a module is refused, with the option that would bring it.
#ifndef IRQPROF_LAB_MODULES_H_
#define IRQPROF_LAB_MODULES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace irqprof::lab {

// The QEMU devices the lab has drivers for, in alphabetical order.
std::vector<std::string> KnownNicModels();

// The kernel's name for the driver of a NIC ("8139cp"), or empty if unknown.
std::string DriverOfNic(const std::string& nic_model);

// Paths below the modules directory ("kernel/drivers/net/mii.ko"), every module
// after all that it depends on. `modules_dep` and `modules_builtin` are the
// contents of the files of these names.
absl::StatusOr<std::vector<std::string>> ModulesForNic(const std::string& nic_model,
                                                       const std::string& modules_dep,
                                                       const std::string& modules_builtin);

// "kernel/drivers/net/ne2k-pci.ko.xz" -> "ne2k_pci", as the kernel calls it.
std::string ModuleName(const std::string& path);

}  // namespace irqprof::lab

#endif  // IRQPROF_LAB_MODULES_H_
