// Whom the loop works with. Interfaces, so that the loop knows no worker, no database and no
// terminal, and tests can answer for them.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/lesson.hpp"
#include "common/model/orders.hpp"
#include "common/model/run.hpp"
#include "coordinator/propose/agents/agents.hpp"

namespace kernelpro {

// Something to judge. A node is judged once and, as a finalist, confirmed once in each final phase
// of its run: node and phase name the job within its run, so that a laboratory knows it again
// later.
struct Job {
  NodeId node = root_node;
  std::int64_t phase = 0;     // which final phase, from 1; 0: it is judged for the search
  bool brief = false;         // timed as the search needs it, and no further
  bool energy = false;        // measure joules too
  bool diagnose = false;      // diagnose it too when it passes,
  double diagnose_above = 0;  // and where its speed-up over the incumbent is larger than this
  Candidate candidate;
  std::optional<Candidate> incumbent;  // none: the baseline
};

// Builds and judges candidates of one open task.
class Laboratory {
 public:
  Laboratory() = default;
  Laboratory(const Laboratory&) = delete;
  Laboratory& operator=(const Laboratory&) = delete;
  virtual ~Laboratory() = default;

  // How many jobs it judges side by side.
  [[nodiscard]] virtual int workers() const { return 1; }
  // Whether it times on the processors that the coordinator computes on: nothing may run beside
  // that, not even a build.
  [[nodiscard]] virtual bool times_here() const { return false; }

  // Builds them side by side; one entry each, without a hash where it is not known yet. An error is
  // not the candidates' fault. Called by one thread, others may judge meanwhile.
  [[nodiscard]] virtual Result<std::vector<BuildSummary>> build(
      const std::vector<Candidate>& candidates, std::stop_token stop) = 0;
  // Nothing means "not yet": the run has to wait, and ask again when it is taken up. The answer
  // then may be to the job as it was first given, against another incumbent: the certificate says
  // which by name. What it will never know of a finalist is `not_judged`. Called by as many threads
  // at once as it has workers.
  [[nodiscard]] virtual Result<std::optional<Evaluated>> judge(const Job& job,
                                                               std::stop_token stop) = 0;
};

// Keeps what happened, in its order; when a call returns, it is safe.
class Journal {
 public:
  Journal() = default;
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  virtual ~Journal() = default;

  [[nodiscard]] virtual Status proposed(const Node& node, const std::string& source) = 0;
  // The same in two steps: first the parent is chosen, later the candidate is written.
  [[nodiscard]] virtual Status chosen(const Node& node) = 0;
  [[nodiscard]] virtual Status written(const Node& node, const std::string& source) = 0;
  // The verdict on a node that ends later, after all that were proposed before it.
  [[nodiscard]] virtual Status answered(const Node& node, const Certificate& certificate) = 0;
  [[nodiscard]] virtual Status ended(const Node& node, const Certificate* certificate) = 0;
  [[nodiscard]] virtual Status closed(const Closure& closure) = 0;
  [[nodiscard]] virtual Result<std::string> source(const std::string& hash) = 0;
  // Absent where the node has none.
  [[nodiscard]] virtual Result<std::optional<Certificate>> certificate(NodeId node) = 0;
  // What the run was told of others, before anything is proposed by it.
  [[nodiscard]] virtual Status recalled(const Recollection& recollection) = 0;
};

// What other runs have learned.
class LessonSource {
 public:
  LessonSource() = default;
  LessonSource(const LessonSource&) = delete;
  LessonSource& operator=(const LessonSource&) = delete;
  virtual ~LessonSource() = default;

  // Asked once in a run, when its baseline was judged. A memory that cannot be read says nothing.
  [[nodiscard]] virtual Recollection recall(const Certificate& baseline) = 0;
};

// Writes candidates by asking models; by several threads at once, for different nodes.
class Author {
 public:
  Author() = default;
  Author(const Author&) = delete;
  Author& operator=(const Author&) = delete;
  virtual ~Author() = default;

  // An error ends the run for now; what was asked and answered is kept.
  [[nodiscard]] virtual Result<Proposed> write(const AgentOrder& order, std::stop_token stop) = 0;
};

}  // namespace kernelpro
