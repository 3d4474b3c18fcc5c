// The loop: propose, build, judge, diagnose, and let the search choose what to try next.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "coordinator/loop/partners.hpp"
#include "coordinator/loop/pipeline.hpp"
#include "coordinator/loop/proposer.hpp"
#include "coordinator/loop/replay.hpp"
#include "coordinator/loop/sweeps.hpp"
#include "coordinator/search/search.hpp"

namespace kernelpro {

// What a watcher sees whenever something has changed.
struct LoopProgress {
  std::int64_t judged = 0;
  std::int64_t budget = 0;
  double seconds = 0;       // from the first start on
  double seconds_left = 0;  // estimated from the pace so far and both budgets
  double best_speedup = 1;
  bool best_at_least = false;  // the truth is at least that
  NodeId best = root_node;
  std::string doing;           // "building 2 candidates", "judging node 7: register_block"
  const Node* last = nullptr;  // the node that just ended, if that is what changed
  // What came of a finalist when it was measured at the end; then `last` is that node.
  const Verdict* final = nullptr;
};

using LoopWatcher = std::function<void(const LoopProgress&)>;

class ClosedLoop {
 public:
  // All parts must outlive the loop. `run` is brought up to date: state, why it ended, times.
  // Without an author the playbook alone proposes; without lessons nothing is known of other runs.
  ClosedLoop(Run& run, Search& search, const Playbook& playbook, Laboratory& laboratory,
             Journal& journal, LoopWatcher watcher = {}, Author* author = nullptr,
             LessonSource* lessons = nullptr);

  // Takes up the history, then works until a budget is spent, nothing is left to try, a stop is
  // asked for, or laboratory or models have to be waited for. An error is not a candidate's: worker
  // lost for good, no model there, disk full.
  [[nodiscard]] Status work(const LoopHistory& history, std::stop_token stop);

  // Measures the finalists of a run that was worked on before, and does nothing else. A stop leaves
  // the run as it was.
  [[nodiscard]] Status confirm(const LoopHistory& history, std::stop_token stop);

  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }
  // The best sound node by the run's objective; the root when nothing beats it.
  [[nodiscard]] NodeId best() const { return best_; }

 private:
  // A node that was chosen and has not ended.
  struct Underway {
    enum class Stage { writing, building, judging, waiting, done };
    Stage stage = Stage::building;
    NodeId incumbent = root_node;        // the best when it was chosen
    std::string unwritten;               // why no candidate came of it
    std::optional<Evaluated> evaluated;  // absent where it is known to be a duplicate
  };

  [[nodiscard]] Status take_up(const LoopHistory& history);
  [[nodiscard]] Status add_root();
  // Asks once what other runs have learned, before the first proposal.
  [[nodiscard]] Status recall();
  // The baseline was diagnosed before that: what tools predict of it is believed as others' are.
  [[nodiscard]] Status correct_root();
  // Goes on with what a kill, a pause or the user's stop left under way.
  [[nodiscard]] Status start_all();
  // Gives a node that was just chosen to models or compilers.
  [[nodiscard]] Status start(NodeId id);
  // Whether more may be proposed now.
  [[nodiscard]] bool has_room();
  // What the user gave to search from, as children of the baseline; nothing once they are there.
  [[nodiscard]] Status propose_starts();
  // Begins one node, or all that the user gave. False: there is nothing to try now.
  [[nodiscard]] Result<bool> propose(std::stop_token stop);
  // Whose child to try next: a repair that promises more than the best, else what the search says.
  [[nodiscard]] Status take_offer(const Choice& choice, const ChildOffer& offer);
  [[nodiscard]] std::optional<Choice> next_choice();
  // Begins to sweep that node's tunables.
  [[nodiscard]] Status open_sweep(NodeId id, const std::string& move);
  // The next program of a sweep that goes on; no node once there is none left.
  [[nodiscard]] Status add_swept(const Choice& choice);
  // In a run that is taken up: a node of a sweep was born.
  [[nodiscard]] Status sweep_again(const Node& one);
  // Waits until the oldest node under way has its answer. False: it has to be waited for longer
  // than this process lives.
  [[nodiscard]] Result<bool> await_oldest();
  [[nodiscard]] Status take_step(Step step);
  [[nodiscard]] Status take_written(Node& one, const Proposed& written);
  [[nodiscard]] Status take_build(Node& one, const BuildSummary& summary);
  [[nodiscard]] Status take_answer(Node& one, std::optional<Evaluated> evaluated);
  // Ends it: verdicts are taken in the order of the proposals, whatever their own.
  [[nodiscard]] Status end_oldest();
  [[nodiscard]] Status end_unwritten(Node& one, const std::string& reason);
  [[nodiscard]] Status end_judged(Node& one, const Evaluated& evaluated);
  // Whether an earlier node is the same candidate or has the same machine code: then it is made a
  // duplicate.
  [[nodiscard]] bool is_duplicate(Node& one) const;
  static void take_proposal(Node& one, const Proposal& proposal, const std::string& key);
  [[nodiscard]] Status add_node(const Choice& choice, const Proposal& proposal,
                                const std::string& key);
  [[nodiscard]] Status choose_node(const Choice& choice);
  [[nodiscard]] Node fresh_node(const Choice& choice);
  void begin(Node fresh);
  [[nodiscard]] Status close(NodeId id, const std::string& reason);
  // `phase`: the final one that it is measured in, 0 in the search.
  [[nodiscard]] Result<Job> job_for(const Node& one, NodeId incumbent, std::int64_t phase) const;
  // The final phase: the finalists against the baseline itself, on fresh inputs, one after the
  // other. That is the result to be trusted, and it decides which is the best.
  [[nodiscard]] Status measure_finalists(std::stop_token stop);
  // One certificate each; fewer when the run has to stop or to wait.
  [[nodiscard]] Result<std::vector<Certificate>> measure(const std::vector<NodeId>& finalists,
                                                         std::int64_t phase, std::stop_token stop);
  [[nodiscard]] Status take_final(Node& one, const Certificate& certificate, std::int64_t phase);
  [[nodiscard]] Result<bool> is_refuted(const Node& one);
  [[nodiscard]] Status choose_by_time(std::int64_t phase);
  [[nodiscard]] Status choose_by_energy(std::int64_t phase);
  // Whether the run is finished, or has to go on later; `end`: why nothing more is tried.
  void conclude(const std::string& end, const std::stop_token& stop);
  // The node that the certificate's candidate was compared with.
  [[nodiscard]] NodeId incumbent_of(const Certificate& certificate) const;
  // What a certificate says, over the baseline. `incumbent`: the node that its candidate was
  // compared with; none: the baseline.
  static void take_verdict(Node& one, const Certificate& certificate, const Node* incumbent);
  void take_evaluated(Node& one, const Evaluated& evaluated) const;
  [[nodiscard]] Status end_node(Node& one, const Certificate* certificate);
  void learn(const Node& one);
  void credit_move(const Node& one);
  // Why the run cannot go on now but later, if so.
  [[nodiscard]] std::optional<std::string> halted(const std::stop_token& stop) const;
  [[nodiscard]] std::optional<std::string> spent() const;
  // Why the best is good enough, if so.
  [[nodiscard]] std::optional<std::string> near_the_bound() const;
  [[nodiscard]] Node& node(NodeId id) { return nodes_[static_cast<std::size_t>(id)]; }
  [[nodiscard]] const Node& node(NodeId id) const { return nodes_[static_cast<std::size_t>(id)]; }
  [[nodiscard]] double seconds() const;
  // What is being done, for people.
  [[nodiscard]] std::string doing() const;
  void report(const std::string& doing, const Node* last = nullptr,
              const Verdict* final = nullptr) const;

  Run& run_;
  Search& search_;
  const Playbook& playbook_;
  Laboratory& laboratory_;
  Journal& journal_;
  LoopWatcher watcher_;
  Author* author_;
  LessonSource* lessons_;  // nullptr: none, or asked already
  Proposer proposer_;
  Sweeps sweeps_;
  std::vector<Node> nodes_;
  Experience experience_;
  std::set<std::string> known_keys_;
  std::map<NodeId, Underway> underway_;
  std::optional<Pipeline> pipeline_;  // while it works
  bool filling_ = false;              // proposals are made until enough nodes are under way
  NodeId best_ = root_node;
  std::int64_t events_ = 0;
  std::int64_t judged_ = 0;
  NodeId first_proposal_ = root_node;  // of those that count as tried in vain
  std::string models_spent_;           // which budget for models is spent; empty: none
  std::int64_t started_ns_ = 0;        // as if it had never paused
};

}  // namespace kernelpro
