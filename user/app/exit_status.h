// The documented exit statuses.
#ifndef IRQPROF_APP_EXIT_STATUS_H_
#define IRQPROF_APP_EXIT_STATUS_H_

namespace irqprof {

enum ExitStatus {
  kExitFine = 0,
  kExitCheckFailed = 1,
  kExitUsage = 2,          // what was asked for makes no sense: flag, scenario, file
  kExitCannotMeasure = 3,  // something is missing here; says what, and how to get it
  kExitTainted = 4,        // measured, but some event was lost
  kExitInterrupted = 130,  // Ctrl-C or SIGTERM; everything is cleaned up
};

}  // namespace irqprof

#endif  // IRQPROF_APP_EXIT_STATUS_H_
