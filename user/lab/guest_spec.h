// GuestSpec: all that makes one boot of the lab what it is, and the QEMU
// command line that it means. Pure.
//
// The wire is QEMU's own: a sink inside QEMU behind a filter that holds packets
// until a timer of the guest's clock, so interrupts land asynchronously on
// whatever runs and no timing of the host leaks in. With the repeatable clock
// (one instruction is 2 ns of guest time) two boots of equal specs give equal
// results; different, equally valid rounds come from different seeds.
#ifndef IRQPROF_LAB_GUEST_SPEC_H_
#define IRQPROF_LAB_GUEST_SPEC_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace irqprof {

// Every member has a default, so that a spec names just what it means.
struct GuestSpec {
  std::string nic_model = "";  // a QEMU device, see lab::KnownNicModels(); empty: no NIC
  bool repeatable = true;      // the instruction-counted clock; false: the host's clock
  int seed = 0;                // the guest's date is 2024-01-01 00:00:00 + 11 s * seed
  int cpus = 1;                // the repeatable clock runs them in turn: figures need 1
  int memory_mib = 384;
  int wire_interval_us = 997;  // guest time; 0: the wire answers at once, synchronously
  std::vector<std::string> kernel_parameters = {};   // further ones, one word each
  std::string job = "";                              // what Guest::job() returns
  absl::Duration time_limit = absl::Minutes(5);      // host time, the whole boot
  absl::Duration silence_limit = absl::Seconds(90);  // without a byte from the guest
};

namespace lab {

// The descriptors QEMU inherits.
struct GuestFiles {
  int kernel = -1;
  int initramfs = -1;
  int channel = -1;  // where the second serial port writes
};

absl::Status ValidateGuestSpec(const GuestSpec& spec);

// For a valid spec; without the program's own name.
std::vector<std::string> QemuArguments(const GuestSpec& spec, const GuestFiles& files,
                                       const std::vector<std::string>& library_directories);

}  // namespace lab
}  // namespace irqprof

#endif  // IRQPROF_LAB_GUEST_SPEC_H_
