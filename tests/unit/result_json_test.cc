#include "user/model/result_json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

#include "tests/support/sample_result.h"

namespace irqprof {
namespace {

using Json = nlohmann::json;

std::string Error(const std::string& text) {
  return std::string(ParseResult(text, "r.json").status().message());
}

// The sample with one value replaced.
std::string With(const std::string& pointer, const Json& value) {
  Json json = Json::parse(ResultToJson(SampleRun()));
  json[Json::json_pointer(pointer)] = value;
  return json.dump();
}

std::string Without(const std::string& pointer, const std::string& key) {
  Json json = Json::parse(ResultToJson(SampleRun()));
  json[Json::json_pointer(pointer)].erase(key);
  return json.dump();
}

TEST(ResultJson, WhatIsWrittenReadsBackTheSame) {
  for (const Result& result : {SampleRun(), SampleRecord()}) {
    const std::string text = ResultToJson(result);
    const auto read = ParseResult(text, "r.json");
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(ResultToJson(*read), text);
  }
  const auto read = ParseResult(ResultToJson(SampleRun()), "r.json");
  ASSERT_TRUE(read.ok());
  const Result sample = SampleRun();
  EXPECT_EQ(read->arms[1].runs[2].metrics, sample.arms[1].runs[2].metrics);
  EXPECT_EQ(read->arms[0].runs[0].profile->contexts[0].irq, 11);
  EXPECT_EQ(read->arms[0].runs[0].profile->contexts[1].irq, std::nullopt);
  EXPECT_EQ(read->arms[0].runs[0].profile->contexts[0].hist_ns,
            sample.arms[0].runs[0].profile->contexts[0].hist_ns);
  EXPECT_EQ(read->arms[0].runs[0].profile->tasks[0].hits.hardirq, 14'643);
  EXPECT_EQ(read->provenance.order_seed, 20240101u);
}

TEST(ResultJson, KeysAreThoseOfTheSchema) {
  const Json json = Json::parse(ResultToJson(SampleRun()));
  EXPECT_EQ(json["schema"], "irqprof.result/1");
  const Json& arm = json["arms"][0];
  EXPECT_EQ(arm["nic"]["model"], "rtl8139");
  EXPECT_TRUE(arm["summary"]["stream_mib_per_s"].contains("median"));
  const Json& profile = arm["runs"][0]["profile"];
  EXPECT_TRUE(profile["cpus"][0]["self_ns"]["hardirq"].is_number_integer());
  EXPECT_TRUE(profile["tasks"][0]["stolen_ns"]["softirq"].is_number_integer());
  EXPECT_TRUE(profile["tasks"][0]["kernel"]["runtime_ns"].is_number_integer());
  EXPECT_TRUE(profile["napi"][1]["self_ns"].is_null());
  EXPECT_FALSE(profile["contexts"][1].contains("irq"));
  EXPECT_TRUE(profile["kernel_ledger"]["cpus"][0]["steal_ns"].is_null());
  EXPECT_FALSE(json.contains("profile"));
  EXPECT_TRUE(Json::parse(ResultToJson(SampleRecord()))["profile"]["self_cost"]["ns"].is_null());
}

TEST(ResultJson, HostileNamesAndUnprintableNumbersStayValidJson) {
  Result result = SampleRecord();
  result.profile->tasks[0].comm = "\xff\xfe\"\\\n\x01";
  result.profile->losses["\xc3"] = 0;
  Result run = SampleRun();
  run.arms[0].runs[0].metrics["interrupt_share"] = std::nan("");
  run.arms[0].runs[0].metrics["hidden_share"] = INFINITY;
  EXPECT_TRUE(Json::accept(ResultToJson(result)));
  const auto read = ParseResult(ResultToJson(run), "r.json");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->arms[0].runs[0].metrics.count("hidden_share"), 0u);
}

TEST(ResultJson, ARunAndAProfileTravelAlone) {
  const auto run = SampleRun().arms[0].runs[1];
  const auto read = ParseRun(RunToJson(run), "guest");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(RunToJson(*read), RunToJson(run));
  EXPECT_EQ(RunToJson(run).find('\n'), std::string::npos);
  const auto profile = ParseProfile(ProfileToJson(*run.profile), "guest");
  ASSERT_TRUE(profile.ok()) << profile.status();
  EXPECT_EQ(ProfileToJson(*profile), ProfileToJson(*run.profile));
  EXPECT_EQ(ParseRun("[]", "guest").status().message(),
            "guest: the top must be an object, not an array");
}

TEST(ResultJson, WrongTypeIsNamedWithItsPlace) {
  EXPECT_EQ(Error(With("/arms/0/runs/1/metrics", 7)),
            "r.json: arms[0].runs[1].metrics must be an object, not a number");
  EXPECT_EQ(Error(With("/arms/1/name", nullptr)),
            "r.json: arms[1].name must be a string, not null");
  EXPECT_EQ(Error(With("/arms/0/runs/0/profile/cpus/0/self_ns/idle", 1.5)),
            "r.json: arms[0].runs[0].profile.cpus[0].self_ns.idle must be a whole number, not a "
            "number");
  EXPECT_EQ(Error(With("/arms/0/runs/0/round", 1LL << 40)),
            "r.json: arms[0].runs[0].round must be within -2147483648..2147483647");
  EXPECT_EQ(Error(With("/arms/0/runs/0/metrics/hidden_share", nullptr)),
            "r.json: arms[0].runs[0].metrics.hidden_share must be a number, not null");
  EXPECT_EQ(Error(With("/arms/0/runs/0/profile/contexts/0/hist_ns/0", Json::array({1}))),
            "r.json: arms[0].runs[0].profile.contexts[0].hist_ns[0] must be a pair of whole "
            "numbers, not an array");
  EXPECT_EQ(Error(With("/provenance/order_seed", -1)),
            "r.json: provenance.order_seed must be within 0..18446744073709551615");
}

TEST(ResultJson, MissingKeyOfTheSchemaIsNamed) {
  EXPECT_EQ(Error(Without("/arms/0/runs/0/profile", "losses")),
            "r.json: arms[0].runs[0].profile must have \"losses\"");
  EXPECT_EQ(Error(Without("", "command")), "r.json: the result must have \"command\"");
  EXPECT_EQ(Error(Without("", "arms")),
            "r.json: a result of `run` must have at least one of \"arms\"");
  EXPECT_EQ(Error(With("/command", "record")),
            "r.json: a result of `record` must have a \"profile\"");
  EXPECT_EQ(Error(With("/command", "top")),
            "r.json: command is \"top\"; expected run, record or stat");
}

TEST(ResultJson, ForeignSchemaIsRefusedNamingBoth) {
  EXPECT_EQ(Error(With("/schema", "irqprof.result/2")),
            "r.json: schema is \"irqprof.result/2\"; this irqprof reads \"irqprof.result/1\"");
  EXPECT_EQ(Error("{\"a\": 1}"),
            "r.json: no \"schema\" at the top; expected \"irqprof.result/1\" as irqprof writes it");
  EXPECT_EQ(Error("3"), Error("{}"));
}

TEST(ResultJson, UnknownKeysAndAnAbsentSummaryAreAccepted) {
  EXPECT_EQ(Error(With("/arms/0/colour", Json::parse("{\"x\": [1, null]}"))), "");
  const auto read = ParseResult(Without("/arms/0", "summary"), "r.json");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->arms[0].summary.at("competitor_real_s").median,
            SampleRun().arms[0].summary.at("competitor_real_s").median);
}

TEST(ResultJson, TextThatIsNoJsonIsOneSentenceWithItsPlace) {
  EXPECT_EQ(Error(""), "r.json is empty; expected a file that irqprof wrote with -o");
  EXPECT_EQ(Error("{\"schema\":\n nope}"),
            "r.json:2:3: not valid JSON; expected a file that irqprof wrote with -o");
  EXPECT_EQ(Error("{\"schema\": \"irqprof"),
            "r.json ends in the middle of a value: it was cut off, make it again");
  EXPECT_EQ(Error("{\"schema\": 1e999}"),
            "r.json holds a number beyond any measurement; this is no result of irqprof");
  EXPECT_EQ(Error(std::string(1'000'000, '[')),
            "r.json is nested deeper than 64 levels; this is no result of irqprof");
  // Brackets within a string are no depth.
  EXPECT_EQ(Error(With("/version", "\"\\" + std::string(200, '['))), "");
}

TEST(ResultJson, EveryPrefixIsRefusedAndNoneCrashes) {
  const std::string text = ResultToJson(SampleRecord());
  for (size_t length = 0; length + 2 < text.size(); ++length)
    ASSERT_FALSE(ParseResult(text.substr(0, length), "r.json").ok()) << length;
}

TEST(ResultJson, DamagedBytesNeverCrashAndErrorsStayOneLine) {
  const std::string whole = ResultToJson(SampleRecord());
  std::mt19937_64 random(7);
  int refused = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    std::string text = whole;
    for (int damage = 0; damage < 3; ++damage)
      text[random() % text.size()] = static_cast<char>(random());
    const std::string error = Error(text);
    refused += !error.empty();
    ASSERT_EQ(error.find('\n'), std::string::npos) << error;
  }
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace irqprof
