// Runs for pages.
#pragma once

#include <string>

#include "coordinator/html/run_page.hpp"
#include "coordinator/report/certificates.hpp"

namespace kernelpro::testing {

inline Node judged(NodeId id, NodeId parent, const std::string& move, double speedup) {
  Node node;
  node.id = id;
  node.parent = parent;
  node.move = move;
  node.state = NodeState::judged;
  node.outcome = speedup > 0 ? Outcome::passed : Outcome::incorrect;
  node.speedup = speedup;
  node.speedup_interval = {speedup * 0.9, speedup * 1.1};
  node.born = id * 2;
  node.ended = id * 2 + 1;
  return node;
}

// 0 ─ 1 flags 2.0 ─ 2 parallel 3.0 ─ 3 tile 6.0, the best
//   │             └ 6 the same as 2
//   ├ 4 tile wrong
//   └ 5 tile 0.5
inline std::vector<Node> sample_nodes() {
  std::vector<Node> nodes = {judged(0, no_node, "", 1),   judged(1, 0, "flags", 2),
                             judged(2, 1, "parallel", 3), judged(3, 2, "tile", 6),
                             judged(4, 0, "tile", 0),     judged(5, 0, "tile", 0.5),
                             judged(6, 1, "parallel", 3)};
  nodes[3].final_phase = 1;
  nodes[3].confirmed = true;
  nodes[6].state = NodeState::duplicate;
  nodes[6].same_as = 2;
  return nodes;
}

inline Run sample_run() {
  Run run;
  run.id = "small-1";
  run.task = small_task();
  run.state = RunState::finished;
  run.best = 3;
  run.final_phases = 1;
  run.machine = "Some CPU";
  return run;
}

// A certificate of a call that takes so long, on a machine of 10 GB/s and 100 GFLOP/s.
inline Certificate timed_certificate(double candidate_ns) {
  Certificate certificate = passed_certificate(small_task(), small_source("x[i] + y[i]"));
  certificate.ceilings.list = {{"read", "GB/s", 1, 10, 10, 10},
                               {"write", "GB/s", 1, 10, 10, 10},
                               {"fma_f32", "GFLOP/s", 1, 100, 100, 100}};
  certificate.verdict.timing.shapes.front().candidate_ns = candidate_ns;
  return certificate;
}

inline html::RunPage sample_page() {
  html::RunPage page;
  page.report = make_run_report(sample_run(), sample_nodes(), {});
  const double times[] = {120'000, 60'000, 40'000, 24'000};
  for (std::size_t i = 0; i < 4; ++i) {
    page.path.push_back({page.report.nodes[i], timed_certificate(times[i])});
  }
  page.baseline_source = "int a;\nint b;\nint c;\n";
  page.best_source = "int a;\nfloat b;\nint c;\n";
  return page;
}

}  // namespace kernelpro::testing
