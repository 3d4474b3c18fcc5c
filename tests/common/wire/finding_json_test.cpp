#include "common/wire/finding_json.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "common/wire/json_checks.hpp"
#include "common/wire/orders_json.hpp"
#include "common/wire/samples.hpp"
#include "common/wire/worker_line.hpp"
#include "support/profiles.hpp"
#include "support/schema.hpp"

namespace kernelpro {
namespace {

using testing::error_of;
using ::testing::HasSubstr;
using testing::SchemaFile;
using json = nlohmann::json;

TEST(FindingJson, ADiagnosisSurvivesARoundTripAndItsSchema) {
  const json written = to_json(testing::sample_diagnosis());
  EXPECT_EQ(SchemaFile("diagnosis.json").complaints(written), "");
  const Result<DiagnosisReport> read = diagnosis_from_json(written);
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(to_json(*read), written);
  EXPECT_EQ(read->kernels.at(0).kind, KernelClass::dram);
  EXPECT_EQ(read->kernels.at(0).skipped.at(1).tool, "barriers");
  EXPECT_EQ(read->findings.at(0).severity, Severity::high);
  EXPECT_EQ(read->findings.at(0).places.at(0).line, 12);
}

TEST(FindingJson, EveryFieldOfAFindingIsWritten) {
  const json fresh = to_json(Finding{});
  const json written = to_json(testing::sample_finding());
  EXPECT_EQ(SchemaFile("finding.json").complaints(fresh), "");
  for (const auto& [key, value] : fresh.items()) {
    EXPECT_NE(written[key], value) << key;
  }
  EXPECT_FALSE(fresh.contains("kernel"));
  EXPECT_EQ(written["kernel"], "scale(float*)");
}

TEST(FindingJson, EveryClassAndSeveritySurvives) {
  const SchemaFile schema("diagnosis.json");
  for (int kind = 0; kind <= static_cast<int>(KernelClass::launch); ++kind) {
    DiagnosisReport report = testing::sample_diagnosis();
    report.kind = static_cast<KernelClass>(kind);
    report.kernels[0].kind = static_cast<KernelClass>(kind);
    report.findings[0].severity = static_cast<Severity>(kind % 3);
    EXPECT_EQ(schema.complaints(to_json(report)), "");
    const Result<DiagnosisReport> read = diagnosis_from_json(to_json(report));
    ASSERT_TRUE(read.ok()) << read.error().text();
    EXPECT_EQ(read->kind, report.kind);
    EXPECT_EQ(read->kernels[0].kind, report.kernels[0].kind);
    EXPECT_EQ(read->findings[0].severity, report.findings[0].severity);
  }
}

TEST(FindingJson, ErrorsNameThePlace) {
  json broken = to_json(testing::sample_diagnosis());
  broken["kernels"][0]["class"] = "slow";
  EXPECT_THAT(error_of(diagnosis_from_json(broken)),
              HasSubstr("/kernels/0/class: found the string \"slow\", expected one of unknown, "));
  broken = to_json(testing::sample_diagnosis());
  broken["findings"][0]["moves"] = "run faster";
  EXPECT_EQ(error_of(diagnosis_from_json(broken)),
            "/findings/0/moves: found the string \"run faster\", expected an array");
  broken["v"] = 3;
  EXPECT_EQ(error_of(diagnosis_from_json(broken)), "/v: a diagnosis of version 3, expected 1");
}

TEST(ToolJson, AUsersToolReadsProfileAndClasses) {
  const json input = tool_input(testing::sample_profile(), {KernelClass::dram});
  EXPECT_EQ(SchemaFile("tool_input.json").complaints(input), "");
  EXPECT_EQ(input["classes"], json({"dram"}));
  EXPECT_EQ(input["profile"]["kernels"][0]["name"], "scale(float*)");
}

// The least that a tool may print.
json tool_output() {
  return {{"v", 1},
          {"findings",
           {{{"title", "Strided"},
             {"observed", 32},
             {"threshold", 8},
             {"unit", "sectors"},
             {"why", "side by side it is 4"},
             {"cause", "stride"},
             {"moves", {"transpose"}},
             {"predicted_gain", 1.5},
             {"derivation", "guess"}}}}};
}

TEST(ToolJson, AUsersToolAnswersWithFindings) {
  json printed = tool_output();
  EXPECT_EQ(SchemaFile("tool_output.json").complaints(printed), "");
  Result<ToolOutput> read = tool_output_from_json(printed, "mine", testing::sample_profile());
  ASSERT_TRUE(read.ok()) << read.error().text();
  ASSERT_EQ(read->findings.size(), 1U);
  EXPECT_EQ(read->findings[0].tool, "mine");
  EXPECT_EQ(read->findings[0].kernel, "");
  EXPECT_EQ(read->findings[0].severity, Severity::medium);
  printed["findings"][0]["kernel"] = "scale(float*)";
  printed["findings"][0]["severity"] = "low";
  printed["findings"][0]["places"] = {{{"file", "scale.cu"}, {"line", 12}}};
  printed["not_available"] = {"no samples"};
  EXPECT_EQ(SchemaFile("tool_output.json").complaints(printed), "");
  read = tool_output_from_json(printed, "mine", testing::sample_profile());
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(read->findings[0].kernel, "scale(float*)");
  EXPECT_EQ(read->findings[0].places.at(0).file, "scale.cu");
  EXPECT_EQ(read->not_available.at(0), "no samples");
}

TEST(ToolJson, WhatAUsersToolMayNotPrintIsNamed) {
  const SchemaFile schema("tool_output.json");
  const auto with = [&](const char* pointer, const json& value, bool seen_by_schema = true) {
    json printed = tool_output();
    printed[json::json_pointer(pointer)] = value;
    EXPECT_EQ(schema.complaints(printed) != "", seen_by_schema) << pointer;
    return error_of(tool_output_from_json(printed, "mine", testing::sample_profile()));
  };
  EXPECT_EQ(with("/findings/0/predicted_gain", 0.5),
            "/findings/0/predicted_gain: found the number 0.5, expected a factor of at least 1");
  EXPECT_EQ(with("/findings/0/predicted_gain", nullptr),
            "/findings/0/predicted_gain: found null, expected a number");
  EXPECT_EQ(with("/findings/0/observed", nullptr),
            "/findings/0/observed: found null, expected a number");
  EXPECT_EQ(with("/findings/0/kernel", "other", false),
            "/findings/0/kernel: found the string \"other\", expected the name of a kernel in the "
            "profile");
  EXPECT_THAT(with("/findings/0/tool", "theirs"), HasSubstr("/findings/0/tool: unknown key"));
  EXPECT_EQ(with("/v", 2), "/v: a tool's output of version 2, expected 1");
}

std::vector<DiagnoseOrder> orders_of_every_kind() {
  DiagnoseOrder base;
  base.all_tools = true;
  base.rules = true;
  base.counters = false;
  base.timeout_ms = 5000;
  base.device = 3;
  base.keep = "/data/raw";
  std::vector<DiagnoseOrder> orders(6, base);
  orders[0].kind = DiagnoseKind::candidate;
  orders[0].candidate = testing::sample_candidate("mine");
  orders[0].shape = Axes{{"m", 512}};
  orders[1].kind = DiagnoseKind::candidate;
  orders[1].implementation = "naive";
  orders[2].kind = DiagnoseKind::library;
  orders[2].library = "/home/me/lib.so";
  orders[3].kind = DiagnoseKind::program;
  orders[3].program = {"./app", "--fast"};
  orders[3].directory = "/home/me";
  orders[3].environment = {"A=B"};
  orders[3].backend = Backend::cpu;
  orders[4].kind = DiagnoseKind::nsys;
  orders[4].nsys_report = "/home/me/r.nsys-rep";
  orders[5].kind = DiagnoseKind::profile;
  orders[5].profile = testing::sample_profile();
  return orders;
}

TEST(DiagnoseOrderJson, EveryKindSurvivesAndIsAValidRequest) {
  const SchemaFile schema("worker_request.json");
  for (const DiagnoseOrder& order : orders_of_every_kind()) {
    const json written = to_json(order);
    const Result<std::string> line = request_line(1, WorkerOp::diagnose, written);
    ASSERT_TRUE(line.ok()) << line.error().text();
    EXPECT_EQ(schema.complaints(json::parse(*line)), "") << name_of(order.kind);
    const Result<DiagnoseOrder> read = diagnose_order_from_json(written);
    ASSERT_TRUE(read.ok()) << read.error().text();
    EXPECT_EQ(to_json(*read), written);
    EXPECT_EQ(read->kind, order.kind);
    EXPECT_EQ(read->shape, order.shape);
    EXPECT_FALSE(read->counters);
    EXPECT_TRUE(read->all_tools && read->rules);
    EXPECT_EQ(read->timeout_ms, 5000);
    EXPECT_EQ(read->device, 3);
    EXPECT_EQ(read->keep, "/data/raw");
  }
}

TEST(DiagnoseOrderJson, AKeyOfAnotherKindIsRefused) {
  const SchemaFile schema("worker_request.json");
  const auto refused = [&](json order) {
    const Result<std::string> line = request_line(1, WorkerOp::diagnose, order);
    EXPECT_NE(schema.complaints(json::parse(*line)), "") << order;
    return error_of(diagnose_order_from_json(order));
  };
  EXPECT_THAT(refused({{"kind", "library"}, {"library", "/a.so"}, {"program", {"./app"}}}),
              HasSubstr("/program: unknown key"));
  EXPECT_THAT(
      refused(
          {{"kind", "program"}, {"program", {"./app"}}, {"directory", "/"}, {"shape", {{"m", 1}}}}),
      HasSubstr("/shape: unknown key"));
  EXPECT_EQ(refused({{"kind", "program"}, {"program", json::array()}, {"directory", "/"}}),
            "/program: found an array of 0, expected the program and its arguments");
  EXPECT_EQ(refused({{"kind", "candidate"}}),
            "the whole value: expected one of \"candidate\" and \"implementation\"");
  EXPECT_EQ(refused({{"kind", "profile"}}), "the whole value: the key \"profile\" is missing");
  EXPECT_EQ(refused({{"kind", "guess"}}),
            "/kind: found the string \"guess\", expected one of candidate, library, program, nsys, "
            "profile");
}

TEST(DiagnoseOrderJson, TheReplySurvivesAndIsValid) {
  const json written = to_json(testing::sample_diagnosed());
  EXPECT_EQ(SchemaFile("diagnosed.json").complaints(written), "");
  EXPECT_EQ(SchemaFile("cli_diagnose.json").complaints(written), "");
  const Result<Diagnosed> read = diagnosed_from_json(written);
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(to_json(*read), written);
  EXPECT_EQ(read->seconds.at("ncu"), 1.9);
}

}  // namespace
}  // namespace kernelpro
