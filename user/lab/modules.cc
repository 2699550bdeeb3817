#include "user/lab/modules.h"

#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

namespace irqprof::lab {
namespace {

struct Driver {
  std::string module;
  std::string config_option;
};

// The last driver is the NIC's own; those before it are what it is found by.
const std::map<std::string, std::vector<Driver>>& DriversOfNics() {
  static const auto& drivers = *new std::map<std::string, std::vector<Driver>>{
      {"e1000", {{"e1000", "CONFIG_E1000"}}},
      {"i82558b", {{"e100", "CONFIG_E100"}}},
      {"ne2k_pci", {{"ne2k-pci", "CONFIG_NE2K_PCI"}}},
      // Not 8139too: it refuses the C+ revision that QEMU emulates.
      {"rtl8139", {{"8139cp", "CONFIG_8139CP"}}},
      {"tulip", {{"tulip", "CONFIG_TULIP"}}},
      {"virtio-net-pci",
       {{"virtio_pci", "CONFIG_VIRTIO_PCI"}, {"virtio_net", "CONFIG_VIRTIO_NET"}}},
  };
  return drivers;
}

struct Module {
  std::string path;
  std::vector<std::string> needs;  // names
};

std::map<std::string, Module> ParseModulesDep(const std::string& text) {
  std::map<std::string, Module> modules;
  for (const auto line : absl::StrSplit(text, '\n')) {
    const std::vector<std::string> halves = absl::StrSplit(line, absl::MaxSplits(':', 1));
    if (halves.size() != 2) continue;
    Module module{halves[0], {}};
    for (const auto need : absl::StrSplit(halves[1], ' ', absl::SkipEmpty())) {
      module.needs.push_back(ModuleName(std::string(need)));
    }
    modules[ModuleName(module.path)] = std::move(module);
  }
  return modules;
}

// The order of the dependencies within a line of modules.dep is depmod's own
// affair, so each dependency's own line is followed first.
void AddInOrder(const std::string& name, const std::map<std::string, Module>& modules,
                std::set<std::string>& seen, std::vector<std::string>& paths) {
  const auto module = modules.find(name);
  if (module == modules.end() || !seen.insert(name).second) return;
  for (const std::string& need : module->second.needs) AddInOrder(need, modules, seen, paths);
  paths.push_back(module->second.path);
}

}  // namespace

std::string ModuleName(const std::string& path) {
  const size_t slash = path.rfind('/');
  std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  name = name.substr(0, name.find(".ko"));
  return absl::StrReplaceAll(name, {{"-", "_"}});
}

std::vector<std::string> KnownNicModels() {
  std::vector<std::string> models;
  for (const auto& [model, drivers] : DriversOfNics()) models.push_back(model);
  return models;
}

std::string DriverOfNic(const std::string& nic_model) {
  const auto found = DriversOfNics().find(nic_model);
  return found == DriversOfNics().end() ? "" : found->second.back().module;
}

absl::StatusOr<std::vector<std::string>> ModulesForNic(const std::string& nic_model,
                                                       const std::string& modules_dep,
                                                       const std::string& modules_builtin) {
  const auto drivers = DriversOfNics().find(nic_model);
  if (drivers == DriversOfNics().end()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the lab has no NIC \"", nic_model, "\"; it has ", absl::StrJoin(KnownNicModels(), ", ")));
  }
  const std::map<std::string, Module> modules = ParseModulesDep(modules_dep);
  std::set<std::string> built_in;
  for (const auto line : absl::StrSplit(modules_builtin, '\n', absl::SkipWhitespace())) {
    built_in.insert(ModuleName(std::string(line)));
  }
  std::set<std::string> seen;
  std::vector<std::string> paths;
  for (const Driver& driver : drivers->second) {
    const std::string name = ModuleName(driver.module);
    if (built_in.contains(name)) continue;
    if (!modules.contains(name)) {
      return absl::FailedPreconditionError(
          absl::StrCat("the lab's kernel has no driver ", driver.module, " for the NIC ", nic_model,
                       ", neither built in nor as a module; use a kernel with ",
                       driver.config_option, " or leave that NIC's arms out"));
    }
    AddInOrder(name, modules, seen, paths);
  }
  return paths;
}

}  // namespace irqprof::lab
