// Unpack: the compressed files of a kernel (its image, its modules) made plain.
//
// The format is told by the content's first bytes, never by a name; the work is
// done by the format's own program (xz, zstd, gzip), so that a damaged file is
// found by its checksum here, not by a guest that hangs.
#ifndef IRQPROF_LAB_UNPACK_H_
#define IRQPROF_LAB_UNPACK_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace irqprof::lab {

// Unimplemented: a format we do not know, or its program is not installed (the
// message names it). DataLoss: the content is damaged.
absl::StatusOr<std::string> Unpack(std::string_view packed);

}  // namespace irqprof::lab

#endif  // IRQPROF_LAB_UNPACK_H_
