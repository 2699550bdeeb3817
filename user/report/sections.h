// The two reports that RenderText chooses from, and what they share.
#ifndef IRQPROF_REPORT_SECTIONS_H_
#define IRQPROF_REPORT_SECTIONS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "user/model/result.h"
#include "user/report/page.h"

namespace irqprof {

void WriteRun(const Result& result, Page& page);                              // arms
void WriteProfile(const Result& result, const Profile& profile, Page& page);  // record, stat

// "lab, Linux 6.1.0-57-amd64 (x86_64), 1 CPU, tick accounting, HZ 250"
std::string PlaceText(const std::string& place, const HostFacts& host);
// "none", or each cause with its count.
std::string LossText(const std::map<std::string, int64_t>& losses);
// What this kernel keeps from irqprof; nothing where it keeps nothing.
void WriteUnseen(const std::vector<std::string>& absent_hooks, int64_t hidden_switches, Page& page);
void WriteTaintedAlarm(const std::map<std::string, int64_t>& losses, Page& page);

}  // namespace irqprof

#endif  // IRQPROF_REPORT_SECTIONS_H_
