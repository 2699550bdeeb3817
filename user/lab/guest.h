// Guest: the lab seen from inside, for the program when it is pid 1 there.
//
//   StatusOr<Guest> guest = Guest::Enter();
//   if (!guest.ok()) ...                          // not in a lab guest: say so, exit
//   StatusOr<std::string> nic = guest->BringUpNic();
//   if (!nic.ok()) guest->Fail(nic.status());
//   guest->Finish(Work(guest->job(), *nic));
//
// After Enter() the usual file systems are mounted, lo is up, the NIC's driver
// is loaded, and the clock is the TSC for good. Each message to the host is a
// serial port's interrupts: send none while measuring. A process that the
// program forks inherits nothing of this; only pid 1 may speak.
#ifndef IRQPROF_LAB_GUEST_H_
#define IRQPROF_LAB_GUEST_H_

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "user/lab/file.h"

namespace irqprof {

class Guest {
 public:
  // An error means: this is no lab guest, nothing was touched. A guest that
  // cannot be set up tells the host why and does not return.
  static absl::StatusOr<Guest> Enter();

  // GuestSpec::job.
  const std::string& job() const { return job_; }

  // Gives the lab's NIC its address, waits for carrier, and returns its name.
  absl::StatusOr<std::string> BringUpNic() const;

  // A line for the person who waits on the host.
  void Progress(const std::string& text) const;

  // Hands the output, or why there is none, to the host and switches off.
  [[noreturn]] void Finish(const std::string& output) const;
  [[noreturn]] void Fail(const absl::Status& status) const;

 private:
  Guest(std::string job, lab::Fd channel) : job_(std::move(job)), channel_(std::move(channel)) {}
  absl::Status SetUp() const;

  std::string job_;
  lab::Fd channel_;
};

}  // namespace irqprof

#endif  // IRQPROF_LAB_GUEST_H_
