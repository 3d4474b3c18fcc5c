// Runs whose candidates a client writes: our search chooses what to expand, its model writes.
//
// The run waits in the store, as one does whose models answer by files. Every call here works until
// it waits again, so that the process may end between any two of them.
#pragma once

#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "coordinator/app/optimize.hpp"
#include "coordinator/app/progress.hpp"
#include "coordinator/llm/client_chat.hpp"

namespace kernelpro {

// As `optimize`, until the first candidates are to be written. `parallel`: how many at a time.
[[nodiscard]] Result<RunOutcome> begin_client_run(OptimizeRequest request, int parallel,
                                                  const Watcher& watcher, std::stop_token stop);

// Whether a client without rights may work on such a run: it judges here and in the sandbox, and
// asks no model that somebody pays for.
[[nodiscard]] bool is_for_any_client(const RunSettings& settings);

// A node that the client is to write, and who may submit it.
struct LeasedProposal {
  std::string id;  // "gemm-1/7/4f1c…": run, node and what only its holder knows
  NodeId node = root_node;
  NodeId parent = root_node;
  std::string until;    // UTC; then it may be given to somebody else
  bool repair = false;  // the parent failed
  std::string brief;    // all that is known: parent, findings, history, siblings, moves, budget
};

struct ProposalOffer {
  RunReport report;
  std::optional<LeasedProposal> proposal;
  std::string why_none;
};

struct ProposalRequest {
  std::filesystem::path store;
  std::string run;
  bool take_over = false;  // also one that was given to somebody: that lease ends
};

// The next node to write. A run that was cut short is gone on with before.
[[nodiscard]] Result<ProposalOffer> next_proposal(const ProposalRequest& request,
                                                  const Watcher& watcher, std::stop_token stop);

struct SubmittedNode {
  RunOutcome outcome;
  NodeId node = root_node;
};

// Keeps what was written for `proposal`, and works on the run until it waits again. Submitted once
// more, what was kept stands and its node is told again.
[[nodiscard]] Result<SubmittedNode> submit(const std::filesystem::path& store,
                                           const std::string& proposal,
                                           const Submission& submission, const Watcher& watcher,
                                           std::stop_token stop);

}  // namespace kernelpro
