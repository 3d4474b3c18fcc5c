#include "common/wire/profile_json.hpp"

#include <gmock/gmock.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "common/base/random.hpp"
#include "common/wire/json.hpp"
#include "common/wire/json_checks.hpp"
#include "common/wire/trace_json.hpp"
#include "support/profiles.hpp"
#include "support/schema.hpp"

namespace kernelpro {
namespace {

using testing::error_of;
using ::testing::HasSubstr;
using testing::mutated;
using testing::SchemaFile;
using testing::through_text;
using json = nlohmann::json;

// Every value of `changed` differs from what stands in the same place of `fresh`.
void expect_shared_keys_changed(const json& fresh, const json& changed) {
  for (const auto& [key, value] : changed.items()) {
    if (key == "v" || !fresh.contains(key)) {
      continue;
    }
    if (value.is_object()) {
      expect_shared_keys_changed(fresh[key], value);
    } else {
      EXPECT_NE(fresh[key], value) << key << " has its default value";
    }
  }
}

TEST(TraceJson, SurvivesARoundTripAndItsSchema) {
  const json written = to_json(testing::sample_trace());
  expect_shared_keys_changed(to_json(Trace{}), written);
  EXPECT_EQ(SchemaFile("trace.json").complaints(written), "");
  const Result<Trace> read = trace_from_json(through_text(written));
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(to_json(*read), written);
  ASSERT_EQ(read->launches.size(), 2U);
  EXPECT_EQ(read->launches[0].name, "_Z5scalePf");
  EXPECT_EQ(read->launches[1].module, "");
  EXPECT_EQ(read->launches[0].correlation, 4'000'000'000U);
  EXPECT_EQ(read->launches[0].grid, (Extent{1024, 2, 3}));
  EXPECT_EQ(read->copies.at(0).kind, CopyKind::host_to_device);
  EXPECT_TRUE(read->copies.at(0).pageable);
  EXPECT_EQ(read->calls.at(1).name, "cudaDeviceSynchronize");
  EXPECT_EQ(read->calls.at(1).kind, CallKind::synchronize);
}

TEST(TraceJson, ANameIsWrittenOnce) {
  const json written = to_json(testing::sample_trace());
  EXPECT_EQ(written["names"],
            json({"_Z5scalePf", "a1b2", "", "cudaLaunchKernel", "cudaDeviceSynchronize"}));
  EXPECT_EQ(written["launches"]["name"], json({0, 0}));
}

TEST(TraceJson, AnEmptyTraceSurvives) {
  const json written = to_json(Trace{});
  EXPECT_EQ(SchemaFile("trace.json").complaints(written), "");
  const Result<Trace> read = trace_from_json(written);
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_TRUE(read->complete);
  EXPECT_FALSE(written.contains("problem"));
}

TEST(TraceJson, BrokenColumnsAreNamed) {
  const auto with = [](const char* pointer, const json& value) {
    json broken = to_json(testing::sample_trace());
    broken[json::json_pointer(pointer)] = value;
    return error_of(trace_from_json(broken));
  };
  EXPECT_EQ(with("/launches/stream", json({1})),
            "/launches/stream: the column has 1 rows, the first has 2");
  EXPECT_EQ(with("/launches/name", json({0, 5})), "/launches/name: row 1 has name 5 of 5");
  EXPECT_EQ(with("/calls/name", json({-1, 0})), "/calls/name: row 0 has name -1 of 5");
  EXPECT_EQ(with("/launches/stream", json({1, -1})),
            "/launches/stream: row 1 has -1, which is out of range");
  EXPECT_EQ(with("/launches/start_ns/1", 0.5),
            "/launches/start_ns/1: found the number 0.5, expected a whole number of at most 63 "
            "bits");
  EXPECT_EQ(with("/launches/grid/1", json({1, 2})),
            "/launches/grid/1: found an array of 2, expected the three numbers [x, y, z]");
  EXPECT_EQ(with("/copies/kind/0", "sideways"),
            "/copies/kind/0: found the string \"sideways\", expected one of host_to_device, "
            "device_to_host, device_to_device, other");
  EXPECT_THAT(with("/fills/color", json::array()), HasSubstr("/fills/color: unknown key"));
  EXPECT_EQ(with("/v", 2), "/v: a trace of version 2, expected 1");
  EXPECT_EQ(with("/launches", json::array()), "/launches: found an array of 0, expected an object");
}

TEST(ProfileJson, SurvivesARoundTripAndItsSchema) {
  const json written = to_json(testing::sample_profile());
  EXPECT_EQ(SchemaFile("profile.json").complaints(written), "");
  const Result<Profile> read = profile_from_json(through_text(written));
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(to_json(*read), written);
  ASSERT_EQ(read->kernels.size(), 1U);
  const KernelProfile& kernel = read->kernels[0];
  EXPECT_EQ(kernel.figures.at("dram_use").value, 0.92);
  EXPECT_EQ(kernel.figures.at("occupancy").origin, Origin::arithmetic);
  EXPECT_EQ(kernel.missing.at("tensor_use"), "ncu does not know it on sm_90");
  ASSERT_TRUE(kernel.code);
  EXPECT_EQ(kernel.code->memory.at(0).space, Space::shared);
  EXPECT_EQ(kernel.code->memory.at(0).sectors, 32000);
  EXPECT_EQ(kernel.code->loops.at(0).place.line, 11);
  EXPECT_EQ(kernel.rules.at(0).speedup_percent, 12.5);
  EXPECT_EQ(read->counters, "the driver denies them (ERR_NVGPUCTRPERM)");
  EXPECT_EQ(read->work->write_bytes, 3e9);
}

TEST(ProfileJson, EveryFieldIsWritten) {
  const json written = to_json(testing::sample_profile());
  Profile fresh;
  fresh.work.emplace();
  fresh.kernels = {KernelProfile{}};
  fresh.kernels[0].code.emplace();
  fresh.kernels[0].code->memory = {MemoryInstruction{}};
  fresh.kernels[0].code->loops = {CodeLoop{}};
  fresh.kernels[0].lines = {HotLine{}};
  fresh.kernels[0].rules = {RuleNote{}};
  const json plain = to_json(fresh);
  EXPECT_EQ(SchemaFile("profile.json").complaints(plain), "");
  for (const char* pointer :
       {"", "/kernels/0", "/kernels/0/code", "/kernels/0/code/memory/0", "/kernels/0/code/loops/0",
        "/kernels/0/lines/0", "/kernels/0/rules/0"}) {
    const json::json_pointer at(pointer);
    expect_shared_keys_changed(plain[at], written[at]);
    for (const auto& [key, value] : plain[at].items()) {
      EXPECT_TRUE(written[at].contains(key)) << pointer << "/" << key;
    }
  }
}

TEST(ProfileJson, WhatIsAbsentHasNoKeyAndStaysAbsent) {
  Profile profile;
  profile.kernels = {KernelProfile{}};
  profile.kernels[0].code.emplace();
  profile.kernels[0].code->memory = {MemoryInstruction{}};
  const json written = to_json(profile);
  for (const char* key : {"architecture", "device", "no_counters", "work", "trace"}) {
    EXPECT_FALSE(written.contains(key)) << key;
  }
  const json& memory = written["kernels"][0]["code"]["memory"][0];
  for (const char* key : {"executed", "sectors", "wavefronts", "samples", "loop", "place"}) {
    EXPECT_FALSE(memory.contains(key)) << key;
  }
  const Result<Profile> read = profile_from_json(written);
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_FALSE(read->work || read->trace);
  EXPECT_FALSE(read->kernels.at(0).code->memory.at(0).sectors.has_value());
  EXPECT_EQ(read->kernels.at(0).code->memory.at(0).loop, -1);
}

TEST(ProfileJson, AFigureThatIsNotFiniteIsMissing) {
  Profile profile;
  profile.kernels = {KernelProfile{}};
  profile.kernels[0].figures["dram_use"].value = std::numeric_limits<double>::quiet_NaN();
  const json kernel = to_json(profile)["kernels"][0];
  EXPECT_TRUE(kernel["figures"].empty());
  EXPECT_EQ(kernel["missing"]["dram_use"], "not a finite number");
}

TEST(ProfileJson, ErrorsNameThePlace) {
  const auto with = [](const char* pointer, const json& value) {
    json broken = to_json(testing::sample_profile());
    broken[json::json_pointer(pointer)] = value;
    return error_of(profile_from_json(broken));
  };
  EXPECT_EQ(with("/v", 2), "/v: a profile of version 2, expected 1");
  EXPECT_EQ(with("/kernels/0/figures/dram_use/value", nullptr),
            "/kernels/0/figures/dram_use/value: found null, expected a number");
  EXPECT_EQ(with("/kernels/0/figures/dram_use", 0.5),
            "/kernels/0/figures/dram_use: found the number 0.5, expected an object");
  EXPECT_THAT(with("/kernels/0/figures/dram_use/origin", "dream"),
              HasSubstr("expected one of counter, sample, trace, code, arithmetic, declared"));
  EXPECT_EQ(with("/kernels/0/code/memory/0/sectors", nullptr),
            "/kernels/0/code/memory/0/sectors: found null, expected a number");
  EXPECT_THAT(with("/kernels/0/code/memory/0/space", "outer"),
              HasSubstr("/kernels/0/code/memory/0/space"));
  EXPECT_THAT(with("/kernels/0/color", "red"), HasSubstr("/kernels/0/color: unknown key"));
  EXPECT_EQ(with("/trace/end_ns", "late"),
            "/trace/end_ns: found the string \"late\", expected a whole number of at most 63 bits");
  json lacking = to_json(testing::sample_profile());
  lacking["kernels"][0].erase("share");
  EXPECT_EQ(error_of(profile_from_json(lacking)), "/kernels/0: the key \"share\" is missing");
}

TEST(ProfileJson, AnySingleMutationGivesAValidValueOrAnError) {
  const std::string text = to_json(testing::sample_profile()).dump();
  const SchemaFile schema("profile.json");
  Random random(20261116);
  int values = 0;
  int errors = 0;
  for (int i = 0; i < 500; ++i) {
    const std::string damaged = mutated(text, random);
    const Result<json> parsed = parse_json(damaged);
    const Result<Profile> read =
        parsed.ok() ? profile_from_json(*parsed) : Result<Profile>(parsed.error());
    if (read.ok()) {
      ++values;
      EXPECT_EQ(schema.complaints(*parsed), "") << damaged;
    } else {
      ++errors;
      EXPECT_FALSE(read.error().message.empty());
      EXPECT_FALSE(read.error().context.empty());
    }
  }
  EXPECT_GT(values, 25);
  EXPECT_GT(errors, 25);
}

}  // namespace
}  // namespace kernelpro
