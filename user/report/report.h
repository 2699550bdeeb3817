// A Result as something to read: pure functions from one value to text.
//
// RenderText is for people: aligned, plain ASCII but for names that are not, no
// row wider than `width` (taken as 60 to 99). Every number comes from the
// result; what was not measured is a dash, and a tainted result (some event was
// lost) says so at the top and is never called exact. Names in a result come
// from kernels and files and are not trusted: see printable.h.
//
// RenderJson is the file format of model/result_json.h.
#ifndef IRQPROF_REPORT_REPORT_H_
#define IRQPROF_REPORT_REPORT_H_

#include <string>

#include "user/model/result.h"

namespace irqprof {

struct TextStyle {
  bool colour = false;
  int width = 99;
};

std::string RenderText(const Result& result, const TextStyle& style);
std::string RenderJson(const Result& result);

}  // namespace irqprof

#endif  // IRQPROF_REPORT_REPORT_H_
