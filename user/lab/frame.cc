#include "user/lab/frame.h"

namespace irqprof::lab {
namespace {

constexpr std::string_view kMagic = "IQF1";
constexpr size_t kHeaderSize = 13;

uint32_t Crc32(uint8_t kind, std::string_view payload) {
  uint32_t crc = ~0u;
  const auto add = [&crc](uint8_t byte) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (0xEDB88320u & (0u - (crc & 1)));
  };
  add(kind);
  for (char c : payload) add(static_cast<uint8_t>(c));
  return ~crc;
}

void AppendLittleEndian(uint32_t value, std::string& bytes) {
  for (int shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<char>(value >> shift));
}

uint32_t ReadLittleEndian(std::string_view bytes) {
  uint32_t value = 0;
  for (int i = 3; i >= 0; --i) value = value << 8 | static_cast<uint8_t>(bytes[i]);
  return value;
}

absl::Status Damaged(const char* what) {
  return absl::DataLossError(std::string("what the guest sent on its result channel is damaged (") +
                             what + "); nothing of it was used, run it again");
}

}  // namespace

std::string EncodeFrame(FrameKind kind, std::string_view payload) {
  std::string bytes(kMagic);
  bytes.push_back(static_cast<char>(kind));
  AppendLittleEndian(payload.size(), bytes);
  AppendLittleEndian(Crc32(static_cast<uint8_t>(kind), payload), bytes);
  return bytes.append(payload);
}

absl::StatusOr<std::optional<Frame>> FrameReader::Next() {
  const std::string_view bytes = pending_;
  if (bytes.substr(0, kMagic.size()) != kMagic.substr(0, bytes.size())) {
    return Damaged("it does not begin as a frame does");
  }
  if (bytes.size() < kHeaderSize) return std::nullopt;
  const uint8_t kind = bytes[4];
  const uint32_t size = ReadLittleEndian(bytes.substr(5, 4));
  const uint32_t crc = ReadLittleEndian(bytes.substr(9, 4));
  if (size > kMaxPayload) return Damaged("a frame of impossible length");
  if (bytes.size() - kHeaderSize < size) return std::nullopt;
  const std::string_view payload = bytes.substr(kHeaderSize, size);
  if (Crc32(kind, payload) != crc) return Damaged("a checksum is wrong");
  if (kind != 'P' && kind != 'R' && kind != 'F') return Damaged("a frame of unknown kind");
  Frame frame{static_cast<FrameKind>(kind), std::string(payload)};
  pending_.erase(0, kHeaderSize + size);
  return frame;
}

std::string EncodeStatus(const absl::Status& status) {
  std::string bytes(1, static_cast<char>(status.code()));
  return bytes.append(status.message().data(), status.message().size());
}

absl::Status DecodeStatus(std::string_view payload) {
  if (payload.empty() || payload[0] <= 0 || payload[0] > 16) {
    return absl::UnknownError("the guest failed without saying why");
  }
  return absl::Status(static_cast<absl::StatusCode>(payload[0]), std::string(payload.substr(1)));
}

}  // namespace irqprof::lab
