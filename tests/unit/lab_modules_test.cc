#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "user/lab/modules.h"

namespace irqprof::lab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kModulesDep[] =
    "kernel/drivers/net/mii.ko:\n"
    "kernel/drivers/net/ethernet/realtek/8139cp.ko: kernel/drivers/net/mii.ko\n"
    "kernel/drivers/net/ethernet/8390/8390.ko.xz:\n"
    "kernel/drivers/net/ethernet/8390/ne2k-pci.ko.xz: kernel/drivers/net/ethernet/8390/8390.ko.xz\n"
    "kernel/net/core/failover.ko:\n"
    "kernel/drivers/net/net_failover.ko: kernel/net/core/failover.ko\n"
    "kernel/drivers/virtio/virtio.ko:\n"
    "kernel/drivers/virtio/virtio_ring.ko: kernel/drivers/virtio/virtio.ko\n"
    "kernel/drivers/virtio/virtio_pci_modern_dev.ko:\n"
    "kernel/drivers/virtio/virtio_pci.ko: kernel/drivers/virtio/virtio_pci_modern_dev.ko "
    "kernel/drivers/virtio/virtio.ko kernel/drivers/virtio/virtio_ring.ko\n"
    "kernel/drivers/net/virtio_net.ko: kernel/drivers/net/net_failover.ko "
    "kernel/net/core/failover.ko kernel/drivers/virtio/virtio.ko "
    "kernel/drivers/virtio/virtio_ring.ko\n";

TEST(Modules, WhatADriverNeedsComesBeforeIt) {
  EXPECT_THAT(
      *ModulesForNic("rtl8139", kModulesDep, ""),
      ElementsAre("kernel/drivers/net/mii.ko", "kernel/drivers/net/ethernet/realtek/8139cp.ko"));
}

TEST(Modules, CompressedModulesAndDashesInNamesAreFound) {
  EXPECT_THAT(*ModulesForNic("ne2k_pci", kModulesDep, ""),
              ElementsAre("kernel/drivers/net/ethernet/8390/8390.ko.xz",
                          "kernel/drivers/net/ethernet/8390/ne2k-pci.ko.xz"));
  EXPECT_EQ(ModuleName("kernel/x/ne2k-pci.ko.xz"), "ne2k_pci");
}

TEST(Modules, OrderWithinALineOfModulesDepDoesNotMatter) {
  const std::vector<std::string> order = *ModulesForNic("virtio-net-pci", kModulesDep, "");
  const auto position = [&order](const std::string& name) {
    const auto found = std::find_if(order.begin(), order.end(), [&](const std::string& path) {
      return ModuleName(path) == name;
    });
    EXPECT_NE(found, order.end()) << name;
    return found - order.begin();
  };
  EXPECT_EQ(order.size(), 7u);  // each once
  EXPECT_LT(position("virtio"), position("virtio_ring"));
  EXPECT_LT(position("virtio_ring"), position("virtio_pci"));
  EXPECT_LT(position("failover"), position("net_failover"));
  EXPECT_LT(position("net_failover"), position("virtio_net"));
  EXPECT_LT(position("virtio_pci"), position("virtio_net"));
}

TEST(Modules, ABuiltInDriverNeedsNothing) {
  EXPECT_THAT(*ModulesForNic("ne2k_pci", "", "kernel/drivers/net/ethernet/8390/ne2k-pci.ko\n"),
              IsEmpty());
}

TEST(Modules, AMissingDriverIsRefusedWithItsNameAndOption) {
  const auto modules = ModulesForNic("tulip", kModulesDep, "");
  ASSERT_FALSE(modules.ok());
  EXPECT_THAT(modules.status().ToString(), HasSubstr("driver tulip"));
  EXPECT_THAT(modules.status().ToString(), HasSubstr("CONFIG_TULIP"));
}

TEST(Modules, AnUnknownNicIsRefusedWithTheKnownOnes) {
  const auto modules = ModulesForNic("ne1000", kModulesDep, "");
  ASSERT_FALSE(modules.ok());
  EXPECT_THAT(modules.status().ToString(), HasSubstr("\"ne1000\""));
  for (const std::string& known : KnownNicModels()) {
    EXPECT_THAT(modules.status().ToString(), HasSubstr(known));
    EXPECT_FALSE(DriverOfNic(known).empty());
  }
}

TEST(Modules, ACircleInModulesDepEnds) {
  const std::string circle = "a/mii.ko: a/tulip.ko\na/tulip.ko: a/mii.ko\n";
  EXPECT_EQ(ModulesForNic("tulip", circle, "")->size(), 2u);
}

}  // namespace
}  // namespace irqprof::lab
