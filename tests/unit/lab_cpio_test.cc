#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "user/lab/cpio.h"

namespace irqprof::lab {
namespace {

struct Entry {
  std::string name;
  unsigned long mode = 0;
  unsigned long links = 0;
  std::string content;
};

// A reader written from cpio(5), sharing nothing with the writer. Stops the test
// at the first byte that is not as the format demands.
std::vector<Entry> Read(const std::string& bytes, size_t* end) {
  std::vector<Entry> entries;
  size_t at = 0;
  const auto aligned = [](size_t offset) { return (offset + 3) & ~size_t{3}; };
  while (true) {
    if (bytes.compare(at, 6, "070701") != 0) {
      ADD_FAILURE() << "no header at " << at;
      return entries;
    }
    const auto field = [&](int i) {
      return std::strtoul(bytes.substr(at + 6 + 8 * i, 8).c_str(), nullptr, 16);
    };
    const size_t name_size = field(11), content_size = field(6);
    const size_t content_at = aligned(at + 110 + name_size);
    Entry entry{bytes.substr(at + 110, name_size - 1), field(1), field(4),
                bytes.substr(content_at, content_size)};
    EXPECT_EQ(bytes[at + 110 + name_size - 1], '\0');
    at = aligned(content_at + content_size);
    if (entry.name == "TRAILER!!!") break;
    entries.push_back(entry);
  }
  *end = at;
  return entries;
}

TEST(Cpio, FilesComeBackWithTheirBytesAndModes) {
  CpioArchive archive;
  const std::string binary("\0\1\2\xFF odd", 9);
  archive.AddFile("/irqprof", binary, /*executable=*/true);
  archive.AddFile("/empty", "");
  size_t end = 0;
  const std::vector<Entry> entries = Read(archive.Finish(), &end);
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].name, "irqprof");
  EXPECT_EQ(entries[0].content, binary);
  EXPECT_EQ(entries[0].mode, 0100755u);
  EXPECT_EQ(entries[0].links, 1u);
  EXPECT_EQ(entries[1].mode, 0100644u);
  EXPECT_EQ(entries[1].content, "");
}

TEST(Cpio, DirectoriesOnTheWayComeBeforeTheFileAndOnce) {
  CpioArchive archive;
  archive.AddFile("/lib/x86_64-linux-gnu/libc.so.6", "c");
  archive.AddFile("/lib/x86_64-linux-gnu/libm.so.6", "m");
  size_t end = 0;
  std::vector<std::string> names;
  for (const Entry& entry : Read(archive.Finish(), &end)) names.push_back(entry.name);
  EXPECT_EQ(names, (std::vector<std::string>{"lib", "lib/x86_64-linux-gnu",
                                             "lib/x86_64-linux-gnu/libc.so.6",
                                             "lib/x86_64-linux-gnu/libm.so.6"}));
}

TEST(Cpio, AFileAddedTwiceIsKeptOnce) {
  CpioArchive archive;
  archive.AddFile("/a", "first");
  archive.AddFile("/a", "second");
  size_t end = 0;
  const std::vector<Entry> entries = Read(archive.Finish(), &end);
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].content, "first");
}

TEST(Cpio, ASecondArchiveCanFollowDirectly) {
  CpioArchive archive;
  archive.AddFile("/a", "1");
  const std::string first = archive.Finish();
  EXPECT_EQ(first.size() % 4, 0u);
  archive.AddFile("/a", "2");  // the object is empty again
  const std::string second = archive.Finish();
  size_t end = 0;
  ASSERT_EQ(Read(first, &end).size(), 1u);
  for (size_t i = end; i < first.size(); ++i) EXPECT_EQ(first[i], '\0') << i;
  ASSERT_EQ(Read(second, &end).size(), 1u);
  EXPECT_EQ(Read(second, &end)[0].content, "2");
}

TEST(Cpio, EqualInputsGiveEqualBytes) {
  const auto build = [] {
    CpioArchive archive;
    archive.AddFile("/x/y", "content");
    return archive.Finish();
  };
  EXPECT_EQ(build(), build());
}

}  // namespace
}  // namespace irqprof::lab
