// The page a text report is written on: headings, paragraphs and tables within
// a width, in colour or plain. It knows nothing of interrupts.
#ifndef IRQPROF_REPORT_PAGE_H_
#define IRQPROF_REPORT_PAGE_H_

#include <string>
#include <string_view>
#include <vector>

#include "user/report/report.h"

namespace irqprof {

struct Column {
  std::string label;
  std::string unit;   // second line of the head; empty where no column has one
  bool text = false;  // left-aligned
};

struct Cell {
  std::string value;
  std::string below = {};  // a second, quieter line: the interval of a median
};

using Row = std::vector<Cell>;

class Page {
 public:
  explicit Page(const TextStyle& style);

  // Blocks are separated by one empty line.
  void Heading(const std::string& text);
  void Alarm(const std::string& text);
  // "Label   text", wrapped, the text of all facts starting in one column.
  void Fact(const std::string& label, const std::string& text);
  // Wrapped; `first` stands in front of the first line, the others align after it.
  void Paragraph(const std::string& first, const std::string& text);
  void Note(const std::string& text);
  // The first column names the row. Columns that do not fit go to a further
  // table below, under the same names.
  void Table(const std::vector<Column>& columns, const std::vector<Row>& rows);
  void Gap();

  std::string Take() { return std::move(text_); }

 private:
  void Line(std::string line, std::string_view colour = {});
  void Wrapped(const std::string& first, const std::string& text, std::string_view colour);
  void TablePart(const std::vector<Column>& columns, const std::vector<Row>& rows,
                 const std::vector<size_t>& widths, const std::vector<size_t>& chosen);

  const bool colour_;
  const size_t width_;
  std::string text_;
};

}  // namespace irqprof

#endif  // IRQPROF_REPORT_PAGE_H_
