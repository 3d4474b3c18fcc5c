#include "coordinator/app/model_calls.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "coordinator/app/run_work.hpp"
#include "coordinator/app/store_journal.hpp"
#include "coordinator/dispatch/worker_client.hpp"
#include "coordinator/llm/transcript.hpp"
#include "coordinator/loop/proposer.hpp"

namespace kernelpro {

namespace {

// The compilers of this machine's worker; none where it cannot be asked.
std::vector<CompilerDescription> compilers_here() {
  Result<WorkerClient> worker = WorkerClient::start();
  const Result<WorkerDescription> described =
      worker ? worker->describe({}) : Result<WorkerDescription>(worker.error());
  return described ? described->compilers : std::vector<CompilerDescription>();
}

// The node that is being written, or a child that `parent` could have now.
Node asked_for(const std::vector<Node>& nodes, NodeId parent) {
  const Node& chosen = nodes[static_cast<std::size_t>(parent)];
  if (chosen.state == NodeState::proposing) {
    return chosen;
  }
  Node child;
  child.id = std::ssize(nodes);
  child.parent = parent;
  for (const Node& node : nodes) {
    child.born = std::max({child.born, node.born + 1, node.ended + 1});
  }
  return child;
}

}  // namespace

Result<Preview> preview_child(const NodeRequest& request) {
  KP_LET(Store store, Store::open(request.store, StoreMode::read));
  KP_LET(const RunReport report, load_report(store, request.run));
  const Run& run = report.run;
  if (!run.settings.llm) {
    return make_error(ErrorKind::bad_input,
                      "no model is asked in that run: it was started without --llm",
                      "run " + run.id);
  }
  const NodeId parent = request.node.value_or(report.best);
  if (parent < 0 || parent >= std::ssize(report.nodes)) {
    return make_error(ErrorKind::bad_input,
                      fmt::format("it has no node {}; its nodes are 0 to {}", parent,
                                  std::ssize(report.nodes) - 1),
                      "run " + run.id);
  }
  KP_LET(const Playbook playbook, load_playbook(run, compilers_here()));
  StoreJournal journal(store, run.id);
  Proposer proposer(run, playbook, journal, nullptr);
  KP_LET(std::optional<Recollection> told, store.load_recollection(run.id));
  if (told) {
    proposer.recall(std::move(*told));
  }
  const Result<AgentOrder> order =
      proposer.order_for(asked_for(report.nodes, parent), report.nodes);
  return order ? make_preview(*order, request.store) : Result<Preview>(order.error());
}

Result<std::string> run_transcript(const std::filesystem::path& store, const std::string& run) {
  KP_LET(const Store open, Store::open(store, StoreMode::read));
  KP_LET(const std::vector<LlmCall> calls, open.load_llm_calls(run));
  if (std::ranges::all_of(calls,
                          [](const LlmCall& call) { return call.state == CallState::waiting; })) {
    return make_error(ErrorKind::bad_input,
                      "no call of a model has been answered in it: there is nothing to write",
                      "run " + run);
  }
  return transcript_text(calls);
}

}  // namespace kernelpro
