// The keys of `irqprof.result/1`, each written down once; for result_json_*.cc only.
//
// Fields(io, record) names every key of a record in the order of the file. The
// writer and the reader walk the same list, so they cannot disagree. How a key
// may be absent is said by the verb:
//   Required   must be there
//   Extra      always written; a file of another tool may lack it (value stays as it is)
//   Nullable   an optional of a key the schema lists: written as null, read as null or absent
//   Omittable  an optional that is left out of the file where it is absent
#ifndef IRQPROF_MODEL_RESULT_FIELDS_H_
#define IRQPROF_MODEL_RESULT_FIELDS_H_

#include <concepts>
#include <string>
#include <type_traits>

#include "user/model/result.h"

namespace irqprof {

// A Record to be filled, or a const one to be written.
template <class T, class Record>
concept Is = std::same_as<std::remove_const_t<T>, Record>;

void Fields(auto& io, Is<SelfTime> auto& self) {
  io.Required("idle", self.idle_ns);
  io.Required("task", self.task_ns);
  io.Required("softirq", self.softirq_ns);
  io.Required("hardirq", self.hardirq_ns);
  io.Required("vector", self.vector_ns);
  io.Required("nmi", self.nmi_ns);
}

void Fields(auto& io, Is<CpuRow> auto& row) {
  io.Required("cpu", row.cpu);
  io.Required("elapsed_ns", row.elapsed_ns);
  io.Required("self_ns", row.self);
  io.Required("unattributed_ns", row.unattributed_ns);
}

void Fields(auto& io, Is<ContextRow> auto& row) {
  io.Required("cpu", row.cpu);
  io.Required("kind", row.kind);
  io.Required("name", row.name);
  io.Omittable("irq", row.irq);
  io.Omittable("netdev", row.netdev);
  io.Omittable("driver", row.driver);
  io.Required("count", row.count);
  io.Required("self_ns", row.self_ns);
  io.Required("total_ns", row.total_ns);
  io.Required("max_ns", row.max_ns);
  io.Extra("hist_ns", row.hist_ns);
}

void Fields(auto& io, Is<NapiRow> auto& row) {
  io.Required("cpu", row.cpu);
  io.Required("netdev", row.netdev);
  io.Extra("driver", row.driver);
  io.Required("polls", row.polls);
  io.Required("packets", row.packets);
  io.Required("budget_exhausted", row.budget_exhausted);
  io.Nullable("self_ns", row.self_ns);
  io.Required("where", row.where);
}

void Fields(auto& io, Is<TheftRow> auto& row) {
  io.Required("kind", row.kind);
  io.Required("name", row.name);
  io.Required("ns", row.ns);
}

void Fields(auto& io, Is<TaskRow::Stolen> auto& stolen) {
  io.Required("hardirq", stolen.hardirq_ns);
  io.Required("vector", stolen.vector_ns);
  io.Required("softirq", stolen.softirq_ns);
  io.Extra("nmi", stolen.nmi_ns);
}

void Fields(auto& io, Is<TaskRow::Hits> auto& hits) {
  io.Required("hardirq", hits.hardirq);
  io.Required("vector", hits.vector);
  io.Required("softirq", hits.softirq);
}

void Fields(auto& io, Is<TaskRow::Kernel::Columns> auto& columns) {
  io.Required("user_ns", columns.user_ns);
  io.Required("system_ns", columns.system_ns);
  io.Required("softirq_ns", columns.softirq_ns);
  io.Required("irq_ns", columns.irq_ns);
}

void Fields(auto& io, Is<TaskRow::Kernel> auto& kernel) {
  io.Required("utime_ns", kernel.utime_ns);
  io.Required("stime_ns", kernel.stime_ns);
  io.Required("runtime_ns", kernel.runtime_ns);
  io.Extra("slack_ns", kernel.slack_ns);
  io.Omittable("columns", kernel.columns);
}

void Fields(auto& io, Is<TaskRow> auto& row) {
  io.Required("pid", row.pid);
  io.Required("tgid", row.tgid);
  io.Required("comm", row.comm);
  io.Required("cgroup", row.cgroup);
  io.Required("on_cpu_ns", row.on_cpu_ns);
  io.Required("own_ns", row.own_ns);
  io.Required("stolen_ns", row.stolen);
  io.Required("own_softirq_ns", row.own_softirq_ns);
  io.Extra("hits", row.hits);
  io.Extra("switches", row.switches);
  io.Extra("stolen_by", row.stolen_by);
  io.Required("kernel", row.kernel);
}

void Fields(auto& io, Is<KernelCpuRow> auto& row) {
  io.Required("cpu", row.cpu);
  io.Required("user_ns", row.user_ns);
  io.Required("nice_ns", row.nice_ns);
  io.Required("system_ns", row.system_ns);
  io.Required("idle_ns", row.idle_ns);
  io.Required("iowait_ns", row.iowait_ns);
  io.Nullable("irq_ns", row.irq_ns);
  io.Nullable("softirq_ns", row.softirq_ns);
  io.Nullable("steal_ns", row.steal_ns);
}

void Fields(auto& io, Is<KernelLedger> auto& ledger) {
  io.Required("cpus", ledger.cpus);
  io.Required("tick_ns", ledger.tick_ns);
}

void Fields(auto& io, Is<Finding> auto& finding) {
  io.Required("rule", finding.rule);
  io.Required("subject", finding.subject);
  io.Required("exact_ns", finding.exact_ns);
  io.Required("kernel_ns", finding.kernel_ns);
  io.Required("bound_ns", finding.bound_ns);
  io.Required("verdict", finding.verdict);
  io.Required("text", finding.text);
}

void Fields(auto& io, Is<HostFacts> auto& host) {
  io.Required("kernel", host.kernel);
  io.Required("arch", host.arch);
  io.Required("accounting", host.accounting);
  io.Required("hz", host.hz);
  io.Required("cpus_online", host.cpus_online);
  io.Extra("absent_hooks", host.absent_hooks);
}

void Fields(auto& io, Is<Profile::SelfCost> auto& cost) {
  io.Required("events", cost.events);
  io.Nullable("ns", cost.ns);
}

void Fields(auto& io, Is<Profile> auto& profile) {
  io.Required("host", profile.host);
  io.Required("elapsed_ns", profile.elapsed_ns);
  io.Required("cpus", profile.cpus);
  io.Required("contexts", profile.contexts);
  io.Required("napi", profile.napi);
  io.Required("tasks", profile.tasks);
  io.Required("kernel_ledger", profile.kernel_ledger);
  io.Required("findings", profile.findings);
  io.Required("losses", profile.losses);
  io.Extra("hidden_switches", profile.hidden_switches);
  io.Required("self_cost", profile.self_cost);
}

void Fields(auto& io, Is<HiddenSplit> auto& split) {
  io.Required("hidden", split.hidden);
  io.Required("to_other_column", split.to_other_column);
  io.Required("to_competitor_user", split.to_competitor_user);
  io.Required("to_competitor_sys", split.to_competitor_sys);
  io.Required("to_stream", split.to_stream);
  io.Required("to_idle", split.to_idle);
  io.Required("elsewhere", split.elsewhere);
}

void Fields(auto& io, Is<Run> auto& run) {
  io.Required("round", run.round);
  io.Required("metrics", run.metrics);
  io.Omittable("hidden_split", run.hidden_split);
  io.Omittable("profile", run.profile);
}

void Fields(auto& io, Is<Interval> auto& interval) {
  io.Required("median", interval.median);
  io.Required("low", interval.low);
  io.Required("high", interval.high);
  io.Required("n", interval.n);
}

void Fields(auto& io, Is<Arm::Nic> auto& nic) {
  io.Extra("netdev", nic.netdev);
  io.Extra("driver", nic.driver);
  io.Extra("model", nic.model);
}

void Fields(auto& io, Is<Arm> auto& arm) {
  io.Required("name", arm.name);
  io.Extra("nic", arm.nic);
  io.Extra("settings", arm.settings);
  io.Required("runs", arm.runs);
  io.Extra("summary", arm.summary);
  io.Extra("probe_effect", arm.probe_effect);
}

void Fields(auto& io, Is<Reference> auto& reference) {
  io.Required("source", reference.source);
  io.Required("system", reference.system);
  io.Required("arm", reference.arm);
  io.Required("metrics", reference.metrics);
}

void Fields(auto& io, Is<Provenance> auto& provenance) {
  io.Extra("question", provenance.question);
  io.Extra("order_seed", provenance.order_seed);
  io.Extra("rounds", provenance.rounds);
  io.Extra("clock", provenance.clock);
  io.Extra("wall_s", provenance.wall_s);
}

void Fields(auto& io, Is<Result> auto& result) {
  io.Required("schema", result.schema);
  io.Required("command", result.command);
  io.Extra("version", result.version);
  io.Extra("scenario", result.scenario);
  io.Extra("place", result.place);
  io.Extra("provenance", result.provenance);
  io.Extra("arms", result.arms);
  io.Extra("reference", result.reference);
  io.Omittable("profile", result.profile);
}

}  // namespace irqprof

#endif  // IRQPROF_MODEL_RESULT_FIELDS_H_
