// The lab: boots a real kernel with real NIC drivers in QEMU, hands this same
// program a job in there, and brings its output out. Needs no root and no KVM;
// nothing is written to any disk and nothing outlives the call.
//
//   StatusOr<LabKernel> kernel = FindLabKernel();
//   StatusOr<Lab> lab = Lab::Prepare(*kernel, "/proc/self/exe", {"rtl8139", "tulip"});
//   lab->RunGuests(specs, 2, watcher);     // inside each guest: user/lab/guest.h
//
// A guest's output is whole and verified or absent. Every boot is bounded in
// time. A failure is one sentence plus the last lines of the guest's console.
// What job and output mean is for the caller and the program in the guest.
#ifndef IRQPROF_LAB_LAB_H_
#define IRQPROF_LAB_LAB_H_

#include <atomic>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "user/lab/file.h"
#include "user/lab/guest_spec.h"
#include "user/lab/initramfs.h"
#include "user/lab/kernel_image.h"

namespace irqprof {

class Lab {
 public:
  // Called from within RunGuests(), on its thread; `index` is the guest's in
  // the specs. Any of them may be empty.
  struct Watcher {
    std::function<void(int index, const std::string& text)> on_progress = nullptr;
    std::function<void(int index, absl::StatusOr<std::string> output)> on_done = nullptr;
    // Set it (from a signal handler, say) and RunGuests() stops all at once.
    const std::atomic<bool>* stop = nullptr;
  };

  // `program` is the file of this running process. Fails if QEMU is missing, the
  // kernel is none, or it lacks the driver of one of the NICs.
  static absl::StatusOr<Lab> Prepare(const LabKernel& kernel, const std::string& program,
                                     const std::vector<std::string>& nic_models);

  // Runs all guests, at most `parallel` at a time, in their order; on_done is
  // called once for each, also for those that fail. Returns OK when all were
  // run, or Cancelled if stopped: then guests without an on_done have none.
  absl::Status RunGuests(std::span<const GuestSpec> specs, int parallel,
                         const Watcher& watcher) const;

 private:
  class Boot;
  absl::StatusOr<Boot> StartGuest(int index, const GuestSpec& spec) const;

  std::string qemu_;
  lab::Fd kernel_;
  lab::BaseInitramfs base_;
  std::map<std::string, std::vector<std::string>> modules_of_nic_;
};

}  // namespace irqprof

#endif  // IRQPROF_LAB_LAB_H_
