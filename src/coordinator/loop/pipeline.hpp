// The nodes under way: models write, compilers build and workers judge side by side.
//
// Threads do the work and say what came of it; whoever owns the pipeline takes that up, one step
// after the other, in one thread. So no node, no journal and no search is ever shared.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <variant>
#include <vector>

#include "coordinator/loop/partners.hpp"
#include "coordinator/propose/playbook.hpp"

namespace kernelpro {

// What came of a node: what models wrote, its build, or its verdict (nothing: not yet). An error
// is nobody's candidate's.
struct Step {
  NodeId node = root_node;
  std::variant<Proposed, BuildSummary, std::optional<Evaluated>, Error> what;
};

// What is not judged is tried once more: that is never the candidate's fault.
[[nodiscard]] Result<std::optional<Evaluated>> judge_or_again(Laboratory& laboratory,
                                                              const Job& job,
                                                              const std::stop_token& stop);

class Pipeline {
 public:
  // All must outlive it. A stop ends whatever is under way.
  Pipeline(Laboratory& laboratory, Author* author, const Playbook& playbook, std::stop_token stop);
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;
  // Ends whatever is under way.
  ~Pipeline();

  void write(AgentOrder order);
  // What waits to be built when the compilers are free is built together.
  void build(NodeId node, Candidate candidate);
  // The oldest node first, by the next worker that is free.
  void judge(Job job);
  // Reads a candidate for its next moves, which takes a compiler: for those that will probably be
  // built upon.
  void read_ahead(Candidate candidate);

  // Waits for the next step. Nothing: it was stopped, or nothing is under way.
  [[nodiscard]] std::optional<Step> next();

  // Work of the owner that must not run beside a timing: waits until none runs. Timings wait until
  // the turn is over.
  class Turn {
   public:
    explicit Turn(Pipeline& pipeline) : pipeline_(pipeline) {}
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn() { pipeline_.end_turn(); }

   private:
    Pipeline& pipeline_;
  };
  [[nodiscard]] Turn turn();

 private:
  using Lock = std::unique_lock<std::mutex>;

  // Whether nothing of ours would run beside a timing. Those that can begin go first.
  [[nodiscard]] bool may_compute() const {
    return !exclusive_ || (judging_ == 0 && to_judge_.empty());
  }
  [[nodiscard]] bool may_judge() const {
    return !to_judge_.empty() && (!exclusive_ || computing_ == 0);
  }
  void end_turn();
  void build_all(const std::stop_token& stop);
  void read_all(const std::stop_token& stop);
  void judge_all(const std::stop_token& stop);
  [[nodiscard]] std::vector<Step> built(const std::map<NodeId, Candidate>& candidates,
                                        const std::stop_token& stop);

  Laboratory& laboratory_;
  Author* author_;
  const Playbook& playbook_;
  const bool exclusive_;  // timings run on the processors that we compute on
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::map<NodeId, Candidate> to_build_;
  std::deque<Candidate> to_read_;
  std::map<NodeId, Job> to_judge_;
  std::deque<Step> steps_;
  int writing_ = 0;    // how many are being written,
  int building_ = 0;   // built
  int judging_ = 0;    // and judged
  int computing_ = 0;  // what timings wait for: builds, reading, turns of the owner
  std::stop_source stop_;
  std::stop_callback<std::function<void()>> stopped_by_others_;
  // The last members: they use all others.
  std::map<NodeId, std::jthread> writers_;
  std::vector<std::jthread> threads_;
};

}  // namespace kernelpro
