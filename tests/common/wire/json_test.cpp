#include "common/wire/json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "common/base/random.hpp"
#include "common/wire/json_checks.hpp"
#include "common/wire/samples.hpp"
#include "support/schema.hpp"

namespace kernelpro {
namespace {

using ::testing::AllOf;
using testing::error_of;
using ::testing::HasSubstr;
using testing::mutated;
using testing::SchemaFile;
using testing::through_text;
using json = nlohmann::json;

// The pointers of all values in `fresh` that `changed` has likewise. `same` lists what may be.
void expect_all_changed(const json& fresh, const json& changed, const std::string& same = {}) {
  for (const auto& [key, value] : fresh.items()) {
    ASSERT_TRUE(changed.contains(key)) << key;
    if (key == same) {
      continue;
    }
    if (value.is_object() && !value.empty()) {
      expect_all_changed(value, changed[key], same);
    } else {
      EXPECT_NE(value, changed[key]) << key << " has its default value";
    }
  }
}

TEST(Json, TaskSurvivesARoundTripAndItsSchema) {
  const json written = to_json(testing::sample_task());
  expect_all_changed(to_json(Task{}), written);
  EXPECT_EQ(SchemaFile("task.json").complaints(written), "");
  const Result<Task> read = task_from_json(through_text(written));
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(to_json(*read), written);
  EXPECT_EQ(read->inputs.at(0).values.kind, ValueKind::csr_columns);
  EXPECT_EQ(read->axes.at(1).derived->text(), "ceil(m/64)");
  EXPECT_EQ(read->held_out.at("m").high, 700);
  EXPECT_EQ(read->timed_shapes.at(1).at("m"), std::int64_t{1} << 40);
}

TEST(Json, ARangeHasItsStepOnlyWhereItIsNotOne) {
  Task task = testing::sample_task();
  task.held_out["m"] = {8, 256, 8};
  EXPECT_EQ(to_json(task)["held_out"]["m"], json::array({8, 256, 8}));
  EXPECT_EQ(SchemaFile("task.json").complaints(to_json(task)), "");
  const Result<Task> read = task_from_json(to_json(task));
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(read->held_out.at("m").step, 8);
  task.held_out["m"].step = 1;
  EXPECT_EQ(to_json(task)["held_out"]["m"], json::array({8, 256}));
}

TEST(Json, TensorFieldsAreAllWritten) {
  Task fresh;
  fresh.inputs = {TensorSpec{}};
  expect_all_changed(to_json(fresh)["inputs"][0], to_json(testing::sample_task())["inputs"][0]);
}

TEST(Json, EveryValueKindAndElementTypeSurvives) {
  const SchemaFile schema("task.json");
  for (const ValueKind kind : {ValueKind::normal, ValueKind::uniform, ValueKind::index,
                               ValueKind::offsets, ValueKind::csr_columns}) {
    for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i64,
                              DType::i32, DType::i16, DType::i8, DType::u8}) {
      Task task;
      task.inputs = {{"A", dtype, {}, {kind, 0, 1, {}, ""}, false, ""}};
      EXPECT_EQ(schema.complaints(to_json(task)), "");
      const Result<Task> read = task_from_json(to_json(task));
      ASSERT_TRUE(read.ok()) << read.error().text();
      EXPECT_EQ(read->inputs.at(0).dtype, dtype);
      EXPECT_EQ(read->inputs.at(0).values.kind, kind);
    }
  }
}

TEST(Json, CandidateSurvivesARoundTripAndItsSchema) {
  const json written = to_json(testing::sample_candidate("mine"));
  expect_all_changed(to_json(Candidate{}), written);
  EXPECT_EQ(SchemaFile("candidate.json").complaints(written), "");
  const Result<Candidate> read = candidate_from_json(through_text(written));
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(to_json(*read), written);
  EXPECT_EQ(read->source, "int kp_launch() { return 0; }\n");
}

TEST(Json, VerdictSurvivesARoundTripAndItsSchema) {
  const json written = to_json(testing::sample_verdict());
  expect_all_changed(to_json(Verdict{}), written);
  Verdict fresh;
  fresh.checks = {CheckRecord{}};
  fresh.timing.shapes = {ShapeTiming{}};
  const json fresh_json = to_json(fresh);
  expect_all_changed(fresh_json["checks"][0], written["checks"][0]);
  expect_all_changed(fresh_json["timing"]["shapes"][0], written["timing"]["shapes"][0]);
  EXPECT_EQ(SchemaFile("verdict.json").complaints(written), "");
  const Result<Verdict> read = verdict_from_json(through_text(written));
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(to_json(*read), written);
  EXPECT_EQ(read->checks.at(0).stage, Stage::held_out);
  EXPECT_EQ(read->timing.shapes.at(0).speedup_interval.high, 1.9);
}

TEST(Json, EnergyIsWrittenInFullAndOnlyWhereItWasMeasured) {
  const json written = to_json(testing::sample_verdict())["energy"];
  Verdict fresh;
  EXPECT_FALSE(to_json(fresh).contains("energy"));
  fresh.energy.emplace();
  fresh.energy->shapes = {ShapeEnergy{}};
  fresh.energy->shapes[0].candidate.windows = {EnergyWindow{}};
  const json fresh_json = to_json(fresh)["energy"];
  expect_all_changed(fresh_json, written);
  expect_all_changed(fresh_json["shapes"][0], written["shapes"][0]);
  expect_all_changed(fresh_json["shapes"][0]["candidate"]["windows"][0],
                     written["shapes"][0]["candidate"]["windows"][0]);
  EXPECT_EQ(SchemaFile("verdict.json").complaints(to_json(fresh)), "");
  const Result<Verdict> read = verdict_from_json(through_text(to_json(testing::sample_verdict())));
  ASSERT_TRUE(read.ok()) << read.error().text();
  ASSERT_TRUE(read->energy);
  EXPECT_EQ(read->energy->comparison, EnergyComparison::less);
  EXPECT_EQ(read->energy->shapes.at(0).candidate.windows.at(0).calls, 2000);
  json wrong = to_json(testing::sample_verdict());
  wrong["energy"]["shapes"][0]["candidate"]["watts"] = "many";
  EXPECT_THAT(error_of(verdict_from_json(wrong)),
              ::testing::HasSubstr("/energy/shapes/0/candidate/watts"));
}

TEST(Json, EveryOutcomeStageAndComparisonSurvives) {
  const SchemaFile schema("verdict.json");
  const auto expect_survives = [&](const Verdict& verdict) {
    EXPECT_EQ(schema.complaints(to_json(verdict)), "");
    const Result<Verdict> read = verdict_from_json(to_json(verdict));
    ASSERT_TRUE(read.ok()) << read.error().text();
    EXPECT_EQ(read->outcome, verdict.outcome);
    EXPECT_EQ(read->stage, verdict.stage);
    EXPECT_EQ(read->timing.comparison, verdict.timing.comparison);
  };
  Verdict verdict;
  for (int outcome = 0; outcome <= static_cast<int>(Outcome::not_judged); ++outcome) {
    verdict.outcome = static_cast<Outcome>(outcome);
    expect_survives(verdict);
  }
  for (int stage = 0; stage <= static_cast<int>(Stage::done); ++stage) {
    verdict.stage = static_cast<Stage>(stage);
    expect_survives(verdict);
  }
  for (int comparison = 0; comparison <= static_cast<int>(Comparison::not_timed); ++comparison) {
    verdict.timing.comparison = static_cast<Comparison>(comparison);
    expect_survives(verdict);
  }
}

TEST(Json, CeilingsSurviveARoundTripAndTheirSchema) {
  const json written = to_json(testing::sample_ceilings());
  expect_all_changed(to_json(Ceilings{"", {Ceiling{}}})["list"][0], written["list"][0]);
  EXPECT_EQ(SchemaFile("ceilings.json").complaints(written), "");
  const Result<Ceilings> read = ceilings_from_json(through_text(written));
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(to_json(*read), written);
  EXPECT_EQ(read->list.at(0).high, 0.1 + 0.2);
}

TEST(Json, MachineSurvivesARoundTripAndItsSchema) {
  const json written = to_json(testing::sample_machine());
  expect_all_changed(to_json(MachineRecord{}), written);
  EXPECT_EQ(SchemaFile("machine.json").complaints(written), "");
  const Result<MachineRecord> read = machine_from_json(through_text(written));
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(to_json(*read), written);
  EXPECT_EQ(read->clocks_mhz.at("cpu0"), 2400.5);
}

TEST(Json, CertificateSurvivesARoundTripAndItsSchema) {
  const json written = to_json(testing::sample_certificate());
  expect_all_changed(to_json(Certificate{}), written, "version");
  EXPECT_EQ(SchemaFile("certificate.json").complaints(written), "");
  const Result<Certificate> read = certificate_from_json(through_text(written));
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(to_json(*read), written);
  EXPECT_EQ(read->build.binary_hash, "22");
  EXPECT_EQ(read->incumbent_build.binary_hash, "44");
}

TEST(Json, DefaultValuesAreValidToo) {
  EXPECT_EQ(SchemaFile("certificate.json").complaints(to_json(Certificate{})), "");
  EXPECT_TRUE(certificate_from_json(to_json(Certificate{})).ok());
}

TEST(Json, NumbersThatAreNotFiniteAreNullAndReadAsNaN) {
  Verdict verdict = testing::sample_verdict();
  verdict.checks.at(0).error = std::numeric_limits<double>::infinity();
  verdict.timing.speedup = std::nan("");
  verdict.timing.speedup_interval.high = std::nan("");
  verdict.timing.shapes.at(0).candidate_rounds = {1.0, std::nan("")};
  const json written = to_json(verdict);
  EXPECT_TRUE(written["timing"]["speedup"].is_null());
  EXPECT_EQ(SchemaFile("verdict.json").complaints(written), "");
  const Result<Verdict> read = verdict_from_json(through_text(written));
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_TRUE(std::isnan(read->checks.at(0).error));
  EXPECT_TRUE(std::isnan(read->timing.speedup));
  EXPECT_TRUE(std::isnan(read->timing.speedup_interval.high));
  EXPECT_EQ(read->timing.speedup_interval.low, 1.7);
  EXPECT_TRUE(std::isnan(read->timing.shapes.at(0).candidate_rounds.at(1)));
}

TEST(Json, BytesThatAreNoUtf8AreReplacedSoThatWritingCannotFail) {
  Verdict verdict;
  verdict.evidence = {"a\xff z", "cut \xe2\x80", "over\xc0\xaflong", "\xed\xa0\x80",
                      "fine é 💡 \xef\xbf\xbd"};
  const Result<Verdict> read = verdict_from_json(through_text(to_json(verdict)));
  ASSERT_TRUE(read.ok()) << read.error().text();
  const std::string mark = "\xef\xbf\xbd";
  EXPECT_EQ(read->evidence.at(0), "a" + mark + " z");
  EXPECT_EQ(read->evidence.at(1), "cut " + mark + mark);
  EXPECT_EQ(read->evidence.at(2), "over" + mark + mark + "long");
  EXPECT_EQ(read->evidence.at(3), mark + mark + mark);
  EXPECT_EQ(read->evidence.at(4), verdict.evidence.at(4));
}

struct Damage {
  std::string pointer;
  json value;
  std::string complaint;
};

class DamagedCertificate : public ::testing::TestWithParam<Damage> {};

TEST_P(DamagedCertificate, IsRefusedWithPlaceFoundAndExpected) {
  json written = to_json(testing::sample_certificate());
  written[json::json_pointer(GetParam().pointer)] = GetParam().value;
  EXPECT_EQ(error_of(certificate_from_json(written)), GetParam().complaint);
  EXPECT_NE(SchemaFile("certificate.json").complaints(written), "");
}

INSTANTIATE_TEST_SUITE_P(
    Json, DamagedCertificate,
    ::testing::Values(
        Damage{"/date", 3, "/date: found the number 3, expected a string"},
        Damage{"/task/inputs/0/constant", "yes",
               "/task/inputs/0/constant: found the string \"yes\", expected true or false"},
        Damage{"/task/tolerance/baseline_factor", true,
               "/task/tolerance/baseline_factor: found true, expected a number, or null for one "
               "that is not finite"},
        Damage{"/machine/memory_bytes", 1.5,
               "/machine/memory_bytes: found the number 1.5, expected a whole number of at most "
               "63 bits"},
        Damage{"/verdict/evidence", json::object(),
               "/verdict/evidence: found an object, expected an array"},
        Damage{"/task/files", json::array({1}),
               "/task/files: found an array of 1, expected an object"},
        Damage{"/threads", -1,
               "/threads: found the number -1, expected a number of threads, at most 4096"},
        Damage{"/threads", 4097,
               "/threads: found the number 4097, expected a number of threads, at most 4096"},
        Damage{"/build", nullptr, "/build: found null, expected an object"},
        Damage{"/verdict/timing/speedup_interval", json::array({1, 2, 3}),
               "/verdict/timing/speedup_interval: found an array of 3, expected the two numbers "
               "[low, high]"},
        Damage{"/task/held_out/m", json::array({1}),
               "/task/held_out/m: found an array of 1, expected the two whole numbers [low, high]"},
        Damage{"/verdict/outcome", "won",
               "/verdict/outcome: found the string \"won\", expected one of passed, build_failed, "
               "launch_failed, crashed, timed_out, out_of_memory, incorrect, unstable, cheated, "
               "not_judged"},
        Damage{"/verdict/timing/comparison", "better",
               "/verdict/timing/comparison: found the string \"better\", expected one of faster, "
               "same, slower, not_timed"},
        Damage{"/task/inputs/0/values/kind", "gamma",
               "/task/inputs/0/values/kind: found the string \"gamma\", expected one of normal, "
               "uniform, index, offsets, drawn, csr_columns"},
        Damage{"/verdict/timing/color", "red",
               "/verdict/timing/color: unknown key, expected one of at_least, brief, budget, "
               "comparison, "
               "likely, noise_floor, shapes, speedup, speedup_interval"},
        Damage{"/ceilings/a~1b", 1, "/ceilings/a~1b: unknown key, expected one of list, machine"},
        Damage{"/version", 6,
               "/version: certificate version 6, expected 1 to 5: read it with the kernelpro that "
               "wrote it"}));

TEST(Json, AnUnknownElementTypeListsTheKnownOnes) {
  json written = to_json(testing::sample_task());
  written["inputs"][0]["dtype"] = "f8";
  EXPECT_THAT(error_of(task_from_json(written)),
              AllOf(HasSubstr("/inputs/0/dtype: found the string \"f8\", expected one of"),
                    HasSubstr("bf16")));
}

TEST(Json, AFormulaThatDoesNotParseIsRefusedInItsPlace) {
  json written = to_json(testing::sample_task());
  written["work"]["flops"] = "2*(m";
  EXPECT_THAT(error_of(task_from_json(written)),
              AllOf(HasSubstr("/work/flops: found the string \"2*(m\", expected a formula ("),
                    HasSubstr("2*(m")));
}

TEST(Json, WholeNumbersOutOfRangeAreRefused) {
  json written = to_json(testing::sample_machine());
  written["cores"] = std::int64_t{1} << 31;
  EXPECT_EQ(error_of(machine_from_json(written)),
            "/cores: found the number 2147483648, expected a whole number of at most 31 bits");
  written = to_json(testing::sample_machine());
  written["cache_bytes"] = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(error_of(machine_from_json(written)),
            "/cache_bytes: found the number 18446744073709551615, expected a whole number of at "
            "most 63 bits");
}

TEST(Json, EveryMissingKeyIsNamed) {
  const json written = to_json(testing::sample_certificate());
  for (const auto& [key, value] : written.items()) {
    if (key == "threads") {
      continue;  // older certificates lack it
    }
    json damaged = written;
    damaged.erase(key);
    EXPECT_EQ(error_of(certificate_from_json(damaged)),
              "the whole value: the key \"" + key + "\" is missing");
    EXPECT_NE(SchemaFile("certificate.json").complaints(damaged), "") << key;
  }
  json damaged = written;
  damaged["verdict"]["checks"][0].erase("key");
  EXPECT_EQ(error_of(certificate_from_json(damaged)),
            "/verdict/checks/0: the key \"key\" is missing");
}

TEST(Json, ACertificateThatDoesNotRecordItsThreadsIsRead) {
  json written = to_json(testing::sample_certificate());
  written.erase("threads");
  EXPECT_EQ(SchemaFile("certificate.json").complaints(written), "");
  const Result<Certificate> read = certificate_from_json(written);
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(read->threads, 0);
}

TEST(Json, AValueOfAnotherTypeThanObjectIsRefused) {
  EXPECT_EQ(error_of(verdict_from_json(json::array())),
            "the whole value: found an array of 0, expected an object");
}

TEST(Json, TextThatIsCutShortIsRefusedWithLineAndColumn) {
  EXPECT_THAT(error_of(parse_json("{\n  \"a\": 1,\n  \"b\": [1, ")),
              AllOf(HasSubstr("line 3, column 12: not valid JSON: "),
                    HasSubstr("unexpected end of input")));
  EXPECT_THAT(error_of(parse_json("")), HasSubstr("line 1, column 1: not valid JSON: "));
}

TEST(Json, AnErrorPointsAtTheOffendingCharacter) {
  EXPECT_THAT(error_of(parse_json("{\n  \"a\": 1,\n  b\n}")),
              HasSubstr("line 3, column 3: not valid JSON: "));
  EXPECT_THAT(error_of(parse_json("[1, NaN]")), HasSubstr("line 1, column 5: not valid JSON: "));
  EXPECT_THAT(error_of(parse_json("[1] 2")), HasSubstr("line 1, column 5: not valid JSON: "));
}

TEST(Json, ParsersShowTheEndOfWhatTheyReadOnly) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) {
    text += "ä€";
  }
  const std::string open_string = error_of(parse_json("{\"plan\": \"" + text));
  EXPECT_LT(open_string.size(), 300U);
  EXPECT_THAT(open_string, HasSubstr("; last read: '…"));
  EXPECT_EQ(json(open_string).dump().find("\\ufffd"), std::string::npos);
  const std::string key = error_of(parse_json("{\"" + text + "\n\": 1}"));
  EXPECT_LT(key.size(), 300U);
  EXPECT_THAT(key, AllOf(HasSubstr("ä€<U+000A>'"), HasSubstr("expected string literal")));
  EXPECT_LT(error_of(parse_json("{\"" + text + "\": 1, \"" + text + "\": 1}")).size(), 300U);
  EXPECT_THAT(error_of(parse_json("[nul]")), HasSubstr("; last read: '[nul]'"));
}

TEST(Json, WhatPlainParsersLetPassIsRefused) {
  EXPECT_THAT(error_of(parse_json("{\"a\": 1, \"a\": 2}")),
              HasSubstr("the key \"a\" stands twice in one object"));
  EXPECT_THAT(error_of(parse_json(std::string(100'000, '['))), HasSubstr("nested more than 64"));
  EXPECT_THAT(error_of(parse_json("[1e999]")), HasSubstr("line 1, column"));
  EXPECT_THAT(error_of(parse_json("[\"\xff\"]")), HasSubstr("line 1, column 3"));
}

TEST(Json, EqualTasksHashAlikeAndAnyChangeShows) {
  Task task = testing::sample_task();
  const std::string hash = task_hash(task);
  EXPECT_EQ(hash.size(), 64U);
  const Result<Task> read = task_from_json(through_text(to_json(task)));
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(task_hash(*read), hash);
  task.files["naive.cpp"] += " ";
  EXPECT_NE(task_hash(task), hash);
}

TEST(Json, AnySingleMutationOfACertificateGivesAValidValueOrAnError) {
  const std::string text = to_json(testing::sample_certificate()).dump();
  const SchemaFile schema("certificate.json");
  Random random(20240229);
  int values = 0;
  int errors = 0;
  for (int i = 0; i < 500; ++i) {
    const std::string damaged = mutated(text, random);
    const Result<json> parsed = parse_json(damaged);
    const Result<Certificate> read =
        parsed.ok() ? certificate_from_json(*parsed) : Result<Certificate>(parsed.error());
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
