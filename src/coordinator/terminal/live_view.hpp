// What a person sees while a command works.
#pragma once

#include <string>

#include "coordinator/app/progress.hpp"
#include "coordinator/terminal/progress.hpp"

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
  // `quiet`: nothing but what went wrong with a model.
  explicit LiveView(bool quiet);
  // This must outlive it.
  [[nodiscard]] Watcher watcher();
  void clear() { line_.clear(); }

 private:
  void show(const LoopProgress& progress);
  void tell_remark(const Remark& remark);
  void say(const std::string& text);  // unless quiet

  bool quiet_;
  bool terminal_;
  std::string task_;
  std::string last_ = "none yet";
  ProgressLine line_;
};

}  // namespace kernelpro
