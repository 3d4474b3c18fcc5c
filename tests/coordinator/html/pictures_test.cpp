#include <gmock/gmock.h>

#include <cmath>
#include <set>

#include "coordinator/html/roofline_data.hpp"
#include "coordinator/html/runs.hpp"
#include "coordinator/html/scale.hpp"
#include "coordinator/html/svg_curve.hpp"
#include "coordinator/html/svg_tree.hpp"
#include "coordinator/html/tags.hpp"

namespace kernelpro::html {
namespace {

using namespace kernelpro::testing;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

double number(const Tag& tag, const char* key) {
  const auto found = tag.attributes.find(key);
  EXPECT_NE(found, tag.attributes.end()) << tag.name << " has no " << key;
  return found == tag.attributes.end() ? 0 : std::stod(found->second);
}

RunReport sample_report() {
  return make_run_report(sample_run(), sample_nodes(), {});
}

// The titles of a picture's parts of that class.
std::vector<std::string> titles(const std::vector<Tag>& tags, const std::string& kind) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i + 1 < tags.size(); ++i) {
    if (has_class(tags[i], kind)) {
      EXPECT_EQ(tags[i + 1].name, "title");
      out.push_back(tags[i + 1].text);
    }
  }
  return out;
}

TEST(Scale, PutsValuesInTheirPlaces) {
  const Scale linear(Scale::Kind::linear, 0, 10, 100, 200);
  EXPECT_EQ(linear.at(5), 150);
  EXPECT_EQ(linear.at(-3), 100) << "on the edge";
  EXPECT_THAT(linear.ticks(6), ElementsAre(0, 2, 4, 6, 8, 10));
  EXPECT_EQ(tick_text(linear.ticks(6).front()), "0");
  const Scale logarithmic(Scale::Kind::logarithmic, 1, 100, 0, 2);
  EXPECT_THAT(logarithmic.at(10), DoubleNear(1, 1e-12));
  EXPECT_THAT(logarithmic.ticks(8), ElementsAre(1, 2, 5, 10, 20, 50, 100));
  EXPECT_THAT(Scale(Scale::Kind::logarithmic, 0.5, 2e7, 0, 1).ticks(8),
              ElementsAre(1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7));
  EXPECT_THAT(Scale(Scale::Kind::logarithmic, 1, 1.5, 0, 1).ticks(8), SizeIs(6))
      << "a narrow range has round values too";
}

TEST(Scale, SpreadsLabelsApart) {
  EXPECT_THAT(spread({10, 11, 50}, 15, 0, 100), ElementsAre(10, 25, 50));
  EXPECT_THAT(spread({96, 97, 98}, 15, 0, 100), ElementsAre(70, 85, 100));
}

TEST(ProgressPicture, HasAMarkForEachEvaluationAndTheBestSoFar) {
  const std::vector<Tag> tags = tags_in(progress_picture(sample_report()).str());
  EXPECT_THAT(titles(tags, "evaluation"),
              ElementsAre(HasSubstr("node 1: flags"), HasSubstr("node 2: parallel"),
                          HasSubstr("node 3: tile, from node 2: it passed and runs 6.00 times"),
                          HasSubstr("node 4: tile, from node 0: it computed wrong results"),
                          HasSubstr("node 5: tile")));
  const std::vector<Tag> passed = of_class(tags, "passed");
  ASSERT_THAT(passed, SizeIs(4));
  EXPECT_GT(number(passed[0], "cy"), number(passed[1], "cy")) << "faster is higher";
  EXPECT_GT(number(passed[1], "cy"), number(passed[2], "cy"));
  EXPECT_LT(number(passed[0], "cx"), number(passed[1], "cx"));
  // Twice as fast is the same height wherever it is: 2 to 6 is as far as log 3.
  const double once = number(passed[0], "cy") - number(passed[1], "cy");
  const double whole = number(passed[0], "cy") - number(passed[2], "cy");
  EXPECT_THAT(once / whole, DoubleNear(std::log(1.5) / std::log(3), 0.01));
  EXPECT_THAT(of_class(tags, "wrong"), SizeIs(1));
  const std::vector<Tag> ring = of_class(tags, "ring");
  ASSERT_THAT(ring, SizeIs(1));
  EXPECT_EQ(number(ring[0], "cy"), number(passed[2], "cy"));
  ASSERT_THAT(of_class(tags, "best-line"), SizeIs(1));
  const std::string line = of_class(tags, "best-line")[0].attributes.at("points");
  EXPECT_EQ(std::count(line.begin(), line.end(), ','), 1 + 2 * 5) << "a step an evaluation";
  EXPECT_EQ(std::stod(line.substr(line.rfind(',') + 1)), number(passed[2], "cy"));
}

TEST(ProgressPicture, ThereIsNoneOfNothing) {
  EXPECT_TRUE(progress_picture(make_run_report(sample_run(), {}, {})).empty());
}

TEST(ProgressPicture, OneEvaluationIsEnough) {
  const RunReport one =
      make_run_report(sample_run(), {judged(0, no_node, "", 1), judged(1, 0, "tile", 0)}, {});
  const std::string html = progress_picture(one).str();
  EXPECT_THAT(of_class(tags_in(html), "wrong"), SizeIs(1));
  EXPECT_THAT(html, ::testing::Not(HasSubstr("nan")));
}

TEST(TreePicture, HasEveryNodeOnceWithItsMoveAndSpeed) {
  const RunReport report = sample_report();
  const std::vector<Tag> tags = tags_in(tree_picture(report).str());
  EXPECT_THAT(titles(tags, "node"),
              ElementsAre(HasSubstr("node 0: the baseline"), HasSubstr("node 1: flags"),
                          HasSubstr("node 2: parallel"), HasSubstr("6.00 times as fast"),
                          HasSubstr("wrong results"), HasSubstr("0.50 times"),
                          HasSubstr("is the same as node 2")));
  EXPECT_THAT(of_class(tags, "edge"), SizeIs(6));
  EXPECT_THAT(of_class(tags, "node"), SizeIs(7));
  int best_edges = 0;
  int nodes_on_path = 0;
  for (const Tag& tag : of_class(tags, "best")) {
    best_edges += has_class(tag, "edge") ? 1 : 0;
    nodes_on_path += has_class(tag, "node") ? 1 : 0;
  }
  EXPECT_EQ(best_edges, 3);
  EXPECT_EQ(nodes_on_path, 4);
  std::set<std::string> links;
  for (const Tag& tag : tags) {
    if (tag.name == "a") {
      links.insert(tag.attributes.at("href"));
    }
  }
  EXPECT_THAT(links, SizeIs(7));
  EXPECT_TRUE(links.contains("#node-6"));
}

TEST(TreePicture, NoTwoNodesLieOnEachOther) {
  std::vector<Node> nodes = {judged(0, no_node, "", 1)};
  for (NodeId id = 1; id < 120; ++id) {
    nodes.push_back(judged(id, (id * 7) % id, "tile", 1 + static_cast<double>(id % 9)));
  }
  kernelpro::Run run = sample_run();
  run.best = 77;
  const std::vector<Tag> tags = tags_in(tree_picture(make_run_report(run, nodes, {})).str());
  std::set<std::pair<double, double>> places;
  for (const Tag& tag : of_class(tags, "passed")) {
    places.emplace(number(tag, "cx"), number(tag, "cy"));
  }
  EXPECT_THAT(places, SizeIs(120));
}

TEST(TreePicture, DamagedRecordsAreDrawnToo) {
  std::vector<Node> nodes = sample_nodes();
  nodes[5].parent = 5;
  nodes[6].parent = 99;
  const std::vector<Tag> tags =
      tags_in(tree_picture(make_run_report(sample_run(), nodes, {})).str());
  EXPECT_THAT(of_class(tags, "node"), SizeIs(7));
  EXPECT_THAT(of_class(tags, "edge"), SizeIs(4));
}

TEST(RooflinePicture, MarksStandWhereTheirFiguresAre) {
  RooflinePlot plot;
  plot.bandwidth = 10e9;
  plot.roofs = {{"f32", 100e9, true}, {"f64", 50e9, false}};
  plot.marks = {{1, 1e9, "slow", "a slow one", false}, {1, 10e9, "fast", "a fast one", true}};
  plot.path = true;
  const std::vector<Tag> tags = tags_in(roofline_picture(plot).str());
  const std::vector<Tag> marks = of_class(tags, "passed");
  ASSERT_THAT(marks, SizeIs(2)) << "the highest first";
  EXPECT_EQ(number(marks[0], "cx"), number(marks[1], "cx"));
  EXPECT_LT(number(marks[0], "cy"), number(marks[1], "cy"));
  // 10 GFLOP/s at one operation a byte is exactly what 10 GB/s allow: the mark is on the line.
  std::vector<Tag> lines;
  for (const Tag& tag : of_class(tags, "roof")) {
    if (tag.name == "line") {
      lines.push_back(tag);
    }
  }
  ASSERT_THAT(lines, SizeIs(3));
  const Tag& memory = lines[0];
  const double slope =
      (number(memory, "y2") - number(memory, "y1")) / (number(memory, "x2") - number(memory, "x1"));
  EXPECT_THAT(number(memory, "y1") + slope * (number(marks[0], "cx") - number(memory, "x1")),
              DoubleNear(number(marks[0], "cy"), 0.1));
  EXPECT_EQ(number(memory, "y2"), number(lines[1], "y1")) << "they meet at the ridge";
  EXPECT_THAT(of_class(tags, "path"), SizeIs(1));
  EXPECT_THAT(of_class(tags, "ring"), SizeIs(1));
}

TEST(RooflinePicture, WhatHasNoPlaceIsLeftOut) {
  RooflinePlot plot;
  plot.bandwidth = 10e9;
  plot.roofs = {{"f32", 100e9, true}};
  EXPECT_TRUE(roofline_picture(plot).empty()) << "no mark";
  plot.marks = {{0, 1e9, "", "", false}, {1, NAN, "", "", false}};
  EXPECT_TRUE(roofline_picture(plot).empty());
  plot.marks.push_back({1, 1e9, "", "", false});
  EXPECT_THAT(of_class(tags_in(roofline_picture(plot).str()), "point"), SizeIs(1));
  plot.roofs.clear();
  EXPECT_TRUE(roofline_picture(plot).empty()) << "no roof";
}

TEST(RooflineData, StepsOfARunHaveTheDeclaredWorkAndTheMeasuredTime) {
  const std::vector<NamedPlot> plots = rooflines_of(sample_page().path);
  ASSERT_THAT(plots, SizeIs(1));
  EXPECT_EQ(plots[0].name, "n=20000");
  EXPECT_EQ(plots[0].plot.bandwidth, 10e9);
  ASSERT_THAT(plots[0].plot.roofs, SizeIs(1));
  EXPECT_EQ(plots[0].plot.roofs[0].flops, 100e9);
  ASSERT_THAT(plots[0].plot.marks, SizeIs(4));
  // 20000 operations and 240000 bytes a call.
  EXPECT_THAT(plots[0].plot.marks[0].intensity, DoubleNear(1.0 / 12, 1e-12));
  EXPECT_THAT(plots[0].plot.marks[0].flops, DoubleNear(20'000 / 120e-6, 1));
  EXPECT_THAT(plots[0].plot.marks[3].flops, DoubleNear(20'000 / 24e-6, 1));
  EXPECT_TRUE(plots[0].plot.marks[3].best);
  EXPECT_THAT(rooflines_of({}), IsEmpty());
}

}  // namespace
}  // namespace kernelpro::html
