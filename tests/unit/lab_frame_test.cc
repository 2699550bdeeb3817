#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "user/lab/frame.h"

namespace irqprof::lab {
namespace {

const std::string kBinary("a\0b\r\n\xFF IQF1 inside", 17);

TEST(Frame, ComesBackWholeHoweverItIsCutUp) {
  const std::string bytes =
      EncodeFrame(FrameKind::kProgress, "") + EncodeFrame(FrameKind::kResult, kBinary);
  for (size_t step = 1; step <= bytes.size(); ++step) {
    FrameReader reader;
    std::vector<Frame> frames;
    for (size_t at = 0; at < bytes.size(); at += step) {
      reader.Append(std::string_view(bytes).substr(at, step));
      while (true) {
        absl::StatusOr<std::optional<Frame>> frame = reader.Next();
        ASSERT_TRUE(frame.ok()) << frame.status();
        if (!frame->has_value()) break;
        frames.push_back(**frame);
      }
    }
    ASSERT_EQ(frames.size(), 2u) << "in steps of " << step;
    EXPECT_EQ(frames[0].kind, FrameKind::kProgress);
    EXPECT_EQ(frames[0].payload, "");
    EXPECT_EQ(frames[1].kind, FrameKind::kResult);
    EXPECT_EQ(frames[1].payload, kBinary);
    EXPECT_FALSE(reader.HasRest());
  }
}

TEST(Frame, ACutFrameIsNeverHandedOut) {
  const std::string bytes = EncodeFrame(FrameKind::kResult, kBinary);
  for (size_t size = 1; size < bytes.size(); ++size) {
    FrameReader reader;
    reader.Append(bytes.substr(0, size));
    absl::StatusOr<std::optional<Frame>> frame = reader.Next();
    ASSERT_TRUE(frame.ok()) << frame.status();
    EXPECT_FALSE(frame->has_value()) << size;
    EXPECT_TRUE(reader.HasRest());
  }
}

TEST(Frame, NoFlippedBitGoesThrough) {
  const std::string bytes = EncodeFrame(FrameKind::kResult, kBinary);
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    FrameReader reader;
    reader.Append(damaged);
    absl::StatusOr<std::optional<Frame>> frame = reader.Next();
    // A longer length is indistinguishable from a frame that is still coming.
    EXPECT_TRUE(!frame.ok() || !frame->has_value()) << "bit " << bit;
  }
}

TEST(Frame, StrayBytesBeforeAFrameAreAnErrorNotSkipped) {
  FrameReader reader;
  reader.Append("random: crng init done\n" + EncodeFrame(FrameKind::kResult, "x"));
  EXPECT_TRUE(absl::IsDataLoss(reader.Next().status()));
}

TEST(Frame, ChecksumIsTheCommonCrc32) {
  // CRC-32 of "123456789" is 0xCBF43926; the kind is the first byte of it.
  const std::string bytes = EncodeFrame(static_cast<FrameKind>('1'), "23456789");
  EXPECT_EQ(bytes.substr(9, 4), "\x26\x39\xF4\xCB");
}

TEST(Frame, AnErrorKeepsItsCodeAndItsWords) {
  const absl::Status status = absl::NotFoundError("no NIC here");
  EXPECT_EQ(DecodeStatus(EncodeStatus(status)), status);
  EXPECT_FALSE(DecodeStatus("").ok());
  EXPECT_FALSE(DecodeStatus(std::string(1, '\0')).ok());
}

}  // namespace
}  // namespace irqprof::lab
