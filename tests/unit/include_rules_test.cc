// The house's layers, checked on the sources: nothing includes upward, and each
// outside library is known to one folder only.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace irqprof {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Strings = std::vector<std::string>;

// Top to bottom. A folder may include itself and those below it.
const Strings kLayers = {"app",      "report",  "check",     "scenario", "lab",
                         "workload", "collect", "reconcile", "model"};
// These know nothing but the model, though others are below them.
const Strings kOnlyModel = {"report", "check", "collect", "reconcile"};

bool Contains(const Strings& strings, const std::string& wanted) {
  return std::find(strings.begin(), strings.end(), wanted) != strings.end();
}

// "lab" of "user/lab/guest.h"; empty for a file directly in user/.
std::string FolderOf(const std::string& path) {
  const size_t end = path.find('/', 5);
  return end == std::string::npos ? "" : path.substr(5, end - 5);
}

bool MayInclude(const std::string& from, const std::string& to) {
  if (from == to) return true;
  if (Contains(kOnlyModel, from)) return to == "model";
  const auto layer = [](const std::string& folder) {
    return std::find(kLayers.begin(), kLayers.end(), folder) - kLayers.begin();
  };
  return Contains(kLayers, to) && layer(from) < layer(to);
}

bool IsLibbpf(const std::string& name, bool quoted) {
  static const Strings kLibbpf = {"bpf/libbpf.h", "bpf/bpf.h", "bpf/btf.h", "bpf/libbpf_legacy.h"};
  const bool ours = quoted && name.rfind("bpf/", 0) == 0 && !Contains(kLibbpf, name);
  const bool skeleton = name.size() > 7 && name.compare(name.size() - 7, 7, ".skel.h") == 0;
  return skeleton || (name.rfind("bpf/", 0) == 0 && !ours);
}

struct Include {
  std::string name;
  bool quoted;
};

std::vector<Include> IncludesOf(const std::string& text) {
  std::vector<Include> includes;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::string packed;
    std::remove_copy_if(line.begin(), line.end(), std::back_inserter(packed),
                        [](char c) { return c == ' ' || c == '\t'; });
    constexpr size_t kOpen = sizeof("#include") - 1;
    if (packed.rfind("#include", 0) != 0 || packed.size() <= kOpen) continue;
    const bool quoted = packed[kOpen] == '"';
    const size_t close = packed.find(quoted ? '"' : '>', kOpen + 1);
    if (close != std::string::npos)
      includes.push_back({packed.substr(kOpen + 1, close - kOpen - 1), quoted});
  }
  return includes;
}

// One sentence for each rule that `text`, the file at `path`, breaks.
Strings Violations(const std::string& path, const std::string& text) {
  Strings violations;
  const auto refuse = [&](const std::string& why) { violations.push_back(path + ": " + why); };
  const fs::path file(path);
  if (file.filename() == "common.h") refuse("there is no common.h");
  for (const fs::path& part : file.parent_path())
    if (part == "util") refuse("there is no util/");
  if (path.rfind("user/", 0) != 0) return violations;

  const std::string folder = FolderOf(path);
  if (!Contains(kLayers, folder)) refuse("user/" + folder + " is not a layer of the design");
  for (const auto& [name, quoted] : IncludesOf(text)) {
    if (name.rfind("user/", 0) == 0) {
      if (!MayInclude(folder, FolderOf(name))) refuse(folder + " may not include " + name);
    } else if (quoted && name.find('/') == std::string::npos && !IsLibbpf(name, quoted)) {
      refuse("\"" + name + "\" is not named from the repository root");
    }
    if (name.rfind("CLI/", 0) == 0 && folder != "app") refuse("only app includes CLI11");
    if (IsLibbpf(name, quoted) && folder != "collect") refuse("only collect includes libbpf");
  }
  return violations;
}

// Sources of the project, from its root; build trees and hidden folders left out.
Strings SourcesUnder(const fs::path& root) {
  Strings paths;
  for (const char* top : {"user", "bpf", "tests"}) {
    if (!fs::exists(root / top)) continue;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / top)) {
      const std::string extension = entry.path().extension();
      if (entry.is_regular_file() && Contains({".h", ".cc", ".c"}, extension))
        paths.push_back(fs::relative(entry.path(), root));
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

TEST(IncludeRules, HoldInTheWholeTree) {
  const fs::path root(IRQPROF_SOURCE_DIR);
  const Strings paths = SourcesUnder(root);
  const auto of_user = std::count_if(paths.begin(), paths.end(), [](const std::string& path) {
    return path.rfind("user/", 0) == 0;
  });
  ASSERT_GT(of_user, 0) << "no sources under " << root << "/user: nothing was checked";
  Strings violations;
  for (const std::string& path : paths) {
    std::ifstream file(root / path);
    std::stringstream text;
    text << file.rdbuf();
    ASSERT_TRUE(file) << path;
    for (std::string& violation : Violations(path, text.str()))
      violations.push_back(std::move(violation));
  }
  EXPECT_THAT(violations, IsEmpty());
}

TEST(IncludeRules, UpwardIncludeIsFound) {
  EXPECT_THAT(Violations("user/model/ledger.h", "#include <map>\n#include \"user/lab/lab.h\"\n"),
              ElementsAre(HasSubstr("model may not include user/lab/lab.h")));
  EXPECT_THAT(Violations("user/lab/lab.cc", "  #  include \"user/model/result.h\"\n"), IsEmpty());
}

TEST(IncludeRules, CollectAndReconcileMeetOnlyInTheModel) {
  EXPECT_FALSE(MayInclude("collect", "reconcile"));
  EXPECT_FALSE(MayInclude("reconcile", "collect"));
  EXPECT_TRUE(MayInclude("collect", "model"));
  EXPECT_TRUE(MayInclude("reconcile", "model"));
}

TEST(IncludeRules, ReportAndCheckKnowOnlyTheModel) {
  for (const char* pure : {"report", "check"})
    for (const std::string& folder : kLayers)
      EXPECT_EQ(MayInclude(pure, folder), folder == "model" || folder == pure) << pure << folder;
}

TEST(IncludeRules, OutsideLibrariesBelongToOneFolder) {
  EXPECT_THAT(Violations("user/report/text.cc", "#include \"CLI/CLI.hpp\"\n"),
              ElementsAre(HasSubstr("only app includes CLI11")));
  EXPECT_THAT(Violations("user/app/main.cc", "#include <CLI/CLI.hpp>\n"), IsEmpty());
  for (const char* header : {"<bpf/libbpf.h>", "\"bpf/bpf.h\"", "\"ledger.skel.h\""}) {
    const std::string include = std::string("#include ") + header + "\n";
    EXPECT_THAT(Violations("user/lab/guest.cc", include),
                ElementsAre(HasSubstr("only collect includes libbpf")));
    EXPECT_THAT(Violations("user/collect/session.cc", include), IsEmpty());
  }
  EXPECT_THAT(Violations("user/model/snapshot.h", "#include \"bpf/records.h\"\n"), IsEmpty());
}

TEST(IncludeRules, CatchAllNamesAreFound) {
  EXPECT_THAT(Violations("user/model/common.h", ""), ElementsAre(HasSubstr("no common.h")));
  EXPECT_THAT(Violations("tests/util/files.cc", ""), ElementsAre(HasSubstr("no util/")));
  EXPECT_THAT(Violations("user/misc/files.cc", ""), ElementsAre(HasSubstr("not a layer")));
}

}  // namespace
}  // namespace irqprof
