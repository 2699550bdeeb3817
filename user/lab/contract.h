// What the host and the program in its guest agree on: the only definition of
// every name, address and path that both sides use.
//
// The guest is this same program, started by the kernel as pid 1 with "guest"
// as its first argument. The host hands it files in the initramfs and a NIC;
// the guest answers with frames (user/lab/frame.h) on the second serial port.
#ifndef IRQPROF_LAB_CONTRACT_H_
#define IRQPROF_LAB_CONTRACT_H_

namespace irqprof::lab {

inline constexpr char kProgramPath[] = "/irqprof";
inline constexpr char kGuestArgument[] = "guest";

// The bytes of GuestSpec::job. Its presence is also how the program knows that
// it runs in a lab guest.
inline constexpr char kJobPath[] = "/lab/job";
// Paths of the modules to load, one a line, in the order to load them.
inline constexpr char kModuleListPath[] = "/lab/modules";
inline constexpr char kModuleDirectory[] = "/lab/module";

inline constexpr char kChannelDevice[] = "/dev/ttyS1";

// A NIC's name depends on the order of module loading, so it is found by this.
inline constexpr char kNicMac[] = "52:54:00:12:34:56";
inline constexpr char kNicAddress[] = "10.0.2.15";
inline constexpr char kNicNetmask[] = "255.255.255.0";
// Inside QEMU a listener here accepts and discards everything.
inline constexpr char kSinkAddress[] = "10.0.2.100";
inline constexpr int kSinkPort = 5001;

}  // namespace irqprof::lab

#endif  // IRQPROF_LAB_CONTRACT_H_
