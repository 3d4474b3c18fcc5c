#include "coordinator/terminal/live_view.hpp"

#include <gmock/gmock.h>

namespace kernelpro {
namespace {

using ::testing::HasSubstr;

TEST(LiveViewText, SaysAtLeastWhereTheBaselineVaried) {
  Node node;
  node.id = 7;
  node.parent = 3;
  node.move = "tile";
  node.state = NodeState::judged;
  node.outcome = Outcome::passed;
  node.speedup = 6.314;
  EXPECT_EQ(node_line(node), "node 7 of 3: tile: passed 6.31x");
  node.at_least = true;
  EXPECT_EQ(node_line(node), "node 7 of 3: tile: passed at least 6.31x");
  LoopProgress progress;
  progress.best = 7;
  progress.best_speedup = 6.314;
  progress.best_at_least = true;
  EXPECT_THAT(progress_text("gemm", progress, "none yet"),
              HasSubstr(" · best at least 6.31x (node 7)"));
}

}  // namespace
}  // namespace kernelpro
