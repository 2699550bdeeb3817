// How the commands talk: results to stdout or a file, everything else to
// stderr, one sentence for an error.
#ifndef IRQPROF_APP_OUTPUT_H_
#define IRQPROF_APP_OUTPUT_H_

#include <atomic>
#include <string>

#include "absl/status/status.h"
#include "user/model/result.h"

namespace irqprof {

// Set by SIGINT, SIGTERM and SIGHUP once CatchSignals() has been called; a
// second signal ends the program at once.
std::atomic<bool>& StopRequested();
void CatchSignals();

// Makes descriptors 0 to 2 exist: whatever this program opened next would
// otherwise be one of them, and get its output. To be called first.
void OpenStandardStreams();

// "irqprof: SENTENCE" on stderr.
void PrintError(const absl::Status& status);

// A line of progress on stderr: rewritten in place on a terminal.
void PrintProgress(const std::string& line);
void EndProgress();

// Empty: nothing to check. Otherwise whether FILE can be written at all, asked
// before a run and not after it.
absl::Status CheckWritable(const std::string& file);

// `format`: "text" or "json", to stdout. `file`, when not empty, gets the JSON
// too; it is replaced whole or not at all. Returns the exit status.
int PrintResult(const Result& result, const std::string& format, const std::string& file);

}  // namespace irqprof

#endif  // IRQPROF_APP_OUTPUT_H_
