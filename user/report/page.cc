#include "user/report/page.h"

#include <algorithm>
#include <functional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "user/report/printable.h"

namespace irqprof {
namespace {

constexpr size_t kGap = 2;          // between columns
constexpr size_t kFactColumn = 12;  // where the text of a fact starts
constexpr std::string_view kBold = "\033[1m";
constexpr std::string_view kQuiet = "\033[2m";
constexpr std::string_view kLoud = "\033[1;31m";
constexpr std::string_view kPlain = "\033[0m";

std::string Aligned(const std::string& text, size_t width, bool left) {
  const std::string blanks(width - std::min(width, DisplayColumns(text)), ' ');
  return left ? text + blanks : blanks + text;
}

std::vector<size_t> Widths(const std::vector<Column>& columns, const std::vector<Row>& rows) {
  std::vector<size_t> widths;
  for (size_t i = 0; i < columns.size(); ++i) {
    size_t width = std::max(DisplayColumns(columns[i].label), DisplayColumns(columns[i].unit));
    for (const Row& row : rows)
      width = std::max({width, DisplayColumns(row[i].value), DisplayColumns(row[i].below)});
    widths.push_back(width);
  }
  return widths;
}

}  // namespace

Page::Page(const TextStyle& style)
    : colour_(style.colour), width_(std::clamp(style.width, 60, 99)) {}

void Page::Gap() {
  if (!text_.empty()) text_ += '\n';
}

void Page::Heading(const std::string& text) {
  Gap();
  Wrapped("", text, kBold);
}

void Page::Alarm(const std::string& text) {
  Gap();
  Wrapped("", text, kLoud);
}

void Page::Fact(const std::string& label, const std::string& text) {
  Wrapped(Aligned(label, kFactColumn, true), text, {});
}

void Page::Paragraph(const std::string& first, const std::string& text) {
  Wrapped(first, text, {});
}

void Page::Note(const std::string& text) { Wrapped("", text, kQuiet); }

void Page::Table(const std::vector<Column>& columns, const std::vector<Row>& rows) {
  const std::vector<size_t> widths = Widths(columns, rows);
  std::vector<size_t> chosen = {0};
  size_t used = widths[0];
  for (size_t i = 1; i < columns.size(); ++i) {
    if (used + kGap + widths[i] > width_ && chosen.size() > 1) {
      TablePart(columns, rows, widths, chosen);
      Gap();
      chosen = {0};
      used = widths[0];
    }
    chosen.push_back(i);
    used += kGap + widths[i];
  }
  TablePart(columns, rows, widths, chosen);
}

void Page::TablePart(const std::vector<Column>& columns, const std::vector<Row>& rows,
                     const std::vector<size_t>& widths, const std::vector<size_t>& chosen) {
  using CellText = std::function<const std::string&(size_t column)>;
  const auto line = [&](std::string_view colour, bool even_if_empty, const CellText& cell) {
    std::string text;
    bool empty = true;
    for (const size_t i : chosen) {
      if (!text.empty()) text.append(kGap, ' ');
      text += Aligned(cell(i), widths[i], columns[i].text);
      empty &= cell(i).empty();
    }
    if (!empty || even_if_empty) Line(std::move(text), colour);
  };
  line(kQuiet, true, [&](size_t i) -> const std::string& { return columns[i].label; });
  line(kQuiet, false, [&](size_t i) -> const std::string& { return columns[i].unit; });
  for (const Row& row : rows) {
    line({}, true, [&](size_t i) -> const std::string& { return row[i].value; });
    line(kQuiet, false, [&](size_t i) -> const std::string& { return row[i].below; });
  }
}

void Page::Line(std::string line, std::string_view colour) {
  line.erase(line.find_last_not_of(' ') + 1);
  if (colour_ && !colour.empty() && !line.empty()) {
    absl::StrAppend(&text_, std::string(colour), line, std::string(kPlain), "\n");
  } else {
    absl::StrAppend(&text_, line, "\n");
  }
}

void Page::Wrapped(const std::string& first, const std::string& text, std::string_view colour) {
  const std::string indent(DisplayColumns(first), ' ');
  std::string line = first;
  bool has_word = false;
  for (const absl::string_view word : absl::StrSplit(text, ' ')) {
    const std::string next(word);
    if (has_word && DisplayColumns(line) + 1 + DisplayColumns(next) > width_) {
      Line(std::move(line), colour);
      line = indent;
      has_word = false;
    }
    if (has_word) line += ' ';
    line += next;
    has_word = true;
  }
  Line(std::move(line), colour);
}

}  // namespace irqprof
