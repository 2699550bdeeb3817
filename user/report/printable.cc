#include "user/report/printable.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "absl/strings/str_format.h"

namespace irqprof {
namespace {

struct Range {
  char32_t first, last;
};

template <size_t N>
bool In(const Range (&ranges)[N], char32_t c) {
  return std::any_of(std::begin(ranges), std::end(ranges),
                     [c](Range range) { return c >= range.first && c <= range.last; });
}

// Controls, and the invisible characters that reorder or hide their neighbours.
constexpr Range kUnsafe[] = {
    {0, 0x1f},        {0x7f, 0x9f},     {0xad, 0xad},     {0x61c, 0x61c},   {0x200b, 0x200f},
    {0x2028, 0x202e}, {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe0fff}};
constexpr Range kNoColumn[] = {{0x300, 0x36f}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}};
constexpr Range kTwoColumns[] = {{0x1100, 0x115f}, {0x2e80, 0xa4cf},   {0xac00, 0xd7a3},
                                 {0xf900, 0xfaff}, {0xfe30, 0xfe6f},   {0xff00, 0xff60},
                                 {0xffe0, 0xffe6}, {0x1f300, 0x1faff}, {0x20000, 0x3fffd}};

struct Character {
  char32_t code = 0;
  size_t bytes = 1;
  bool valid = false;
};

Character Decode(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  const size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {};
  char32_t code = lead & (0x7f >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3f);
  }
  const bool overlong = (bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x10000);
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  return {code, bytes, !overlong && !surrogate && code <= 0x10ffff};
}

size_t Columns(char32_t code) { return In(kNoColumn, code) ? 0 : In(kTwoColumns, code) ? 2 : 1; }

}  // namespace

std::string Printable(std::string_view name, size_t columns) {
  constexpr std::string_view kCut = "...";
  std::string out;
  size_t used = 0;
  size_t bytes_that_leave_room = 0;  // how much of `out` stays if it must be cut
  while (!name.empty()) {
    const Character character = Decode(name);
    const size_t bytes = character.valid ? character.bytes : 1;
    std::string piece(name.substr(0, bytes));
    size_t width = Columns(character.code);
    if (!character.valid || In(kUnsafe, character.code)) {
      std::string escaped;
      for (const char c : piece) escaped += absl::StrFormat("\\x%02x", static_cast<uint8_t>(c));
      piece = escaped;
      width = piece.size();
    }
    if (used + width > columns) {
      out.resize(bytes_that_leave_room);
      return out.append(kCut.substr(0, std::min(columns, kCut.size())));
    }
    out += piece;
    used += width;
    if (used + kCut.size() <= columns) bytes_that_leave_room = out.size();
    name.remove_prefix(bytes);
  }
  return out;
}

size_t DisplayColumns(std::string_view text) {
  size_t columns = 0;
  while (!text.empty()) {
    const Character character = Decode(text);
    columns += character.valid ? Columns(character.code) : 1;
    text.remove_prefix(character.valid ? character.bytes : 1);
  }
  return columns;
}

}  // namespace irqprof
