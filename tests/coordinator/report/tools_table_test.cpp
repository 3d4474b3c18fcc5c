// What came of the tools' findings, from the nodes of runs.
#include "coordinator/report/tools_table.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace kernelpro {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

Finding finding(const std::string& tool, std::vector<std::string> moves, double gain) {
  Finding out;
  out.tool = tool;
  out.moves = std::move(moves);
  out.predicted_gain = gain;
  return out;
}

Node node(NodeId id, NodeId parent, const std::string& move, double speedup) {
  Node out;
  out.id = id;
  out.parent = parent;
  out.move = move;
  out.state = NodeState::judged;
  out.outcome = Outcome::passed;
  out.speedup = speedup;
  return out;
}

// A baseline with two findings, and what was tried on it: twice what the first names, once with
// success, and once something else.
std::vector<Node> small_run() {
  Node root = node(0, no_node, "", 1);
  root.diagnosis.findings = {finding("bank_conflicts", {"pad", "swizzle"}, 2),
                             finding("narrow_loads", {"widen"}, 1.5)};
  Node failed = node(2, 0, "swizzle", 0);
  failed.outcome = Outcome::incorrect;
  return {root, node(1, 0, "pad", 1.8), failed, node(3, 0, "unroll", 5)};
}

std::vector<ToolRecord> records_of(const std::vector<Node>& nodes) {
  std::vector<ToolRecord> records;
  add_to_records(nodes, "a device", records);
  return records;
}

ToolRecord record(const std::vector<ToolRecord>& records, const std::string& tool) {
  for (const ToolRecord& one : records) {
    if (one.tool == tool) {
      return one;
    }
  }
  ADD_FAILURE() << tool;
  return {};
}

TEST(ToolRecords, CountWhatFiredWasFollowedAndPassed) {
  const std::vector<ToolRecord> records = records_of(small_run());
  ASSERT_EQ(records.size(), 2U);
  const ToolRecord banks = record(records, "bank_conflicts");
  EXPECT_EQ(banks.fired, 1);
  EXPECT_EQ(banks.followed, 2);
  EXPECT_EQ(banks.passed, 1);
  EXPECT_EQ(banks.gained, 1);
  EXPECT_DOUBLE_EQ(banks.predicted(), 2);
  EXPECT_DOUBLE_EQ(banks.measured(), 1.8);
  const ToolRecord narrow = record(records, "narrow_loads");
  EXPECT_EQ(narrow.fired, 1);
  EXPECT_EQ(narrow.followed, 0);
  EXPECT_EQ(narrow.predicted(), 1);
  EXPECT_EQ(narrow.measured(), 1);
}

TEST(ToolRecords, WhatModelsWroteFollowsTheLargestFindingThatIsGone) {
  std::vector<Node> nodes = small_run();
  Node written = node(4, 0, "a_move_of_their_own", 3);
  written.by_models = true;
  written.diagnosis.kind = KernelClass::dram;
  written.diagnosis.findings = {finding("bank_conflicts", {"pad"}, 1.2)};
  nodes.push_back(written);
  EXPECT_EQ(record(records_of(nodes), "bank_conflicts").followed, 2);
  EXPECT_EQ(record(records_of(nodes), "narrow_loads").followed, 1);
  EXPECT_DOUBLE_EQ(record(records_of(nodes), "narrow_loads").measured(), 3);
  nodes.back().diagnosis.findings.clear();
  EXPECT_EQ(record(records_of(nodes), "bank_conflicts").followed, 3);
  EXPECT_EQ(record(records_of(nodes), "narrow_loads").followed, 0);
  nodes.back().diagnosis.kind = KernelClass::unknown;
  EXPECT_EQ(record(records_of(nodes), "bank_conflicts").followed, 2) << "it was not profiled";
  nodes.back().diagnosis.kind = KernelClass::dram;
  nodes.back().by_models = false;
  EXPECT_EQ(record(records_of(nodes), "bank_conflicts").followed, 2);
}

TEST(ToolRecords, GainsAreOverTheParentAndTheirMeanIsGeometric) {
  Node parent = node(1, 0, "x", 2);
  parent.diagnosis.findings = {finding("t", {"move"}, 4)};
  const std::vector<Node> nodes = {node(0, no_node, "", 1), parent, node(2, 1, "move", 8),
                                   node(3, 1, "move", 2)};
  const ToolRecord one = record(records_of(nodes), "t");
  EXPECT_EQ(one.passed, 2);
  EXPECT_EQ(one.gained, 1);
  EXPECT_DOUBLE_EQ(one.predicted(), 4);
  EXPECT_DOUBLE_EQ(one.measured(), 2);
}

TEST(ToolRecords, WhatAToolDerivedCountsNotWhatWasMadeOfIt) {
  std::vector<Node> nodes = small_run();
  nodes[0].diagnosis.findings[0].derived_gain = 3;
  EXPECT_DOUBLE_EQ(record(records_of(nodes), "bank_conflicts").predicted(), 3);
}

TEST(ToolRecords, ClassesAndDevicesAreApartAndOneRowInTheTable) {
  std::vector<ToolRecord> records = records_of(small_run());
  std::vector<Node> other = small_run();
  other[0].diagnosis.kind = KernelClass::l1;
  add_to_records(other, "a device", records);
  add_to_records(small_run(), "another", records);
  EXPECT_EQ(records.size(), 6U);
  EXPECT_EQ(tools_json(records)[2]["class"], "l1");
  EXPECT_EQ(tools_json(records)[4]["device"], "another");
  const std::string table = tools_table(records);
  EXPECT_EQ(table.find("narrow_loads"), table.rfind("narrow_loads"));
}

TEST(ToolRecords, AChildOfAnotherNodeFollowsNothing) {
  std::vector<Node> nodes = small_run();
  nodes.push_back(node(4, 1, "pad", 9));
  EXPECT_EQ(record(records_of(nodes), "bank_conflicts").followed, 2);
}

TEST(ToolRecords, WhatIsNotJudgedIsNotFollowed) {
  std::vector<Node> nodes = small_run();
  nodes[1].state = NodeState::in_flight;
  nodes[2].state = NodeState::duplicate;
  EXPECT_EQ(record(records_of(nodes), "bank_conflicts").followed, 0);
}

TEST(ToolRecords, RunsAddUp) {
  std::vector<ToolRecord> records = records_of(small_run());
  add_to_records(small_run(), "a device", records);
  EXPECT_EQ(records.size(), 2U);
  const ToolRecord banks = record(records, "bank_conflicts");
  EXPECT_EQ(banks.fired, 2);
  EXPECT_EQ(banks.followed, 4);
  EXPECT_DOUBLE_EQ(banks.measured(), 1.8);
}

TEST(ToolRecords, WithoutSpeedsThereIsNoGain) {
  std::vector<Node> nodes = small_run();
  nodes[0].speedup = 0;
  const ToolRecord banks = record(records_of(nodes), "bank_conflicts");
  EXPECT_EQ(banks.followed, 2);
  EXPECT_EQ(banks.passed, 0);
}

TEST(ToolRecords, OfNothingIsNothing) {
  EXPECT_THAT(records_of({}), IsEmpty());
  EXPECT_THAT(records_of({node(0, no_node, "", 1)}), IsEmpty());
}

TEST(ToolsTable, HasALineForEachToolTheBusiestFirst) {
  std::vector<ToolRecord> records = records_of(small_run());
  add_to_records({small_run()[0]}, "a device", records);
  Node more = node(0, no_node, "", 1);
  more.diagnosis.findings = {finding("narrow_loads", {}, 1.2)};
  add_to_records({more}, "a device", records);
  const std::string text = tools_table(records);
  for (const char* title : {"tool", "fired", "followed", "passed", "predicted", "measured"}) {
    EXPECT_THAT(text, HasSubstr(title));
  }
  EXPECT_LT(text.find("narrow_loads"), text.find("bank_conflicts"));
  EXPECT_THAT(text, HasSubstr("2.00"));
  EXPECT_THAT(text, HasSubstr("1.80"));
  EXPECT_THAT(text, HasSubstr("–"));
}

TEST(ToolsTable, OfNothingSaysHowToGetSomething) {
  EXPECT_THAT(tools_table({}), HasSubstr("kernelpro diagnose"));
}

TEST(ToolsTable, AsJsonHasMeansOnlyWhereThereAreAny) {
  const nlohmann::json json = tools_json(records_of(small_run()));
  ASSERT_EQ(json.size(), 2U);
  const nlohmann::json& banks = json[json[0]["tool"] == "bank_conflicts" ? 0 : 1];
  const nlohmann::json& narrow = json[json[0]["tool"] == "bank_conflicts" ? 1 : 0];
  EXPECT_EQ(banks["fired"], 1);
  EXPECT_EQ(banks["gained"], 1);
  EXPECT_DOUBLE_EQ(banks["measured"].get<double>(), 1.8);
  EXPECT_FALSE(narrow.contains("measured"));
  EXPECT_FALSE(narrow.contains("predicted"));
}

}  // namespace
}  // namespace kernelpro
