// Names nobody vouches for, made safe for a terminal and a table.
//
// A task or an interrupt line may be called anything: control characters would
// drive the terminal, a half UTF-8 sequence or a direction override would
// garble the row. All of those are shown as \xNN per byte; other UTF-8 stays.
#ifndef IRQPROF_REPORT_PRINTABLE_H_
#define IRQPROF_REPORT_PRINTABLE_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace irqprof {

// `name` in at most `columns` columns of a terminal; what is cut ends in "...".
std::string Printable(std::string_view name, size_t columns);

// Columns a terminal uses for text that came from Printable() or is our own.
size_t DisplayColumns(std::string_view text);

}  // namespace irqprof

#endif  // IRQPROF_REPORT_PRINTABLE_H_
