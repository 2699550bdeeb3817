// Frames: how the guest speaks to the host over the result channel, a serial
// port that nothing else writes to.
//
//   bytes 0-3    "IQF1"
//   byte  4      the kind
//   bytes 5-8    length of the payload, little endian, at most kMaxPayload
//   bytes 9-12   CRC-32 (IEEE) of the kind and the payload, little endian
//   then the payload
//
// A frame is handed out whole and verified or not at all: a cut one never
// appears, a damaged one is an error, after which the channel is not to be
// trusted any more. There is no resynchronising: nothing that was damaged in
// here is worth having.
#ifndef IRQPROF_LAB_FRAME_H_
#define IRQPROF_LAB_FRAME_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace irqprof::lab {

enum class FrameKind : uint8_t {
  kProgress = 'P',  // a line for the person who waits
  kResult = 'R',    // the output; the last frame
  kFailure = 'F',   // EncodeStatus() of why there is none; the last frame
};

struct Frame {
  FrameKind kind = FrameKind::kProgress;
  std::string payload;
};

inline constexpr uint32_t kMaxPayload = 256u << 20;

std::string EncodeFrame(FrameKind kind, std::string_view payload);

class FrameReader {
 public:
  void Append(std::string_view bytes) { pending_.append(bytes); }

  // The next whole frame; nothing if it has not all come yet.
  absl::StatusOr<std::optional<Frame>> Next();

  // True after the channel's end means: a frame was cut off.
  bool HasRest() const { return !pending_.empty(); }

 private:
  std::string pending_;
};

// An error as the payload of a kFailure frame, and back.
std::string EncodeStatus(const absl::Status& status);
absl::Status DecodeStatus(std::string_view payload);

}  // namespace irqprof::lab

#endif  // IRQPROF_LAB_FRAME_H_
