// What a person sees of a run while it works.
#pragma once

#include <string>

#include "coordinator/cli/progress.hpp"
#include "coordinator/loop/loop.hpp"

namespace kernelpro {

// "gemm 12/100 · best 8.31x (node 9) · last: passed 8.02x, tile · 0:43 left · judging node 13:
// pack"
[[nodiscard]] std::string progress_text(const std::string& task, const LoopProgress& progress,
                                        const std::string& last);

// "node 12 of 3: register_block, gemm: i, j: passed, 8.31x": how one node ended.
[[nodiscard]] std::string node_line(const Node& node);

// On a terminal one line that is rewritten; elsewhere a line on standard error for each node.
class LiveView {
 public:
  LiveView(std::string task, bool wanted);
  void show(const LoopProgress& progress);
  void say(const std::string& text);
  void clear() { line_.clear(); }

 private:
  std::string task_;
  bool wanted_;
  bool terminal_;
  std::string last_ = "none yet";
  ProgressLine line_;
};

}  // namespace kernelpro
