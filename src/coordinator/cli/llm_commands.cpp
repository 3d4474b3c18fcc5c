// The commands about what models are asked: `prompt` and `transcript`.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "coordinator/cli/agent_author.hpp"
#include "coordinator/cli/chosen_node.hpp"
#include "coordinator/cli/commands.hpp"
#include "coordinator/cli/output.hpp"
#include "coordinator/cli/prompt_preview.hpp"
#include "coordinator/cli/run_output.hpp"
#include "coordinator/cli/run_work.hpp"
#include "coordinator/cli/store_journal.hpp"
#include "coordinator/dispatch/worker_client.hpp"
#include "coordinator/llm/transcript.hpp"
#include "coordinator/loop/proposer.hpp"

namespace kernelpro {

namespace {

Error no_models(const Run& run) {
  return make_error(ErrorKind::bad_input,
                    "no model is asked in that run: it was started without --llm", "run " + run.id);
}

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

Status print_prompt(const Options& options, Store& store) {
  const Result<RunReport> report = load_report(store, options.run);
  if (!report) {
    return report.error();
  }
  const Run& run = report->run;
  if (!run.settings.llm) {
    return no_models(run);
  }
  const NodeId parent = options.node.value_or(report->best);
  if (parent < 0 || parent >= std::ssize(report->nodes)) {
    return make_error(ErrorKind::bad_input,
                      fmt::format("it has no node {}; its nodes are 0 to {}", parent,
                                  std::ssize(report->nodes) - 1),
                      "run " + run.id);
  }
  const Result<Playbook> playbook = load_playbook(run, compilers_here());
  if (!playbook) {
    return playbook.error();
  }
  StoreJournal journal(store, run.id);
  Proposer proposer(run, *playbook, journal, nullptr);
  const Result<AgentOrder> order =
      proposer.order_for(asked_for(report->nodes, parent), report->nodes);
  if (!order) {
    return order.error();
  }
  if (options.json) {
    const Result<nlohmann::json> json = preview_json(*order);
    if (json) {
      print_json(*json);
    }
    return json ? Status() : Status(json.error());
  }
  const Result<std::string> text = preview_text(*order);
  if (text) {
    fmt::print("{}", *text);
  }
  return text ? Status() : Status(text.error());
}

Status print_transcript(const Options& options, const Store& store) {
  const Result<std::vector<LlmCall>> calls = store.load_llm_calls(options.run);
  if (!calls) {
    return calls.error();
  }
  if (std::ranges::all_of(*calls,
                          [](const LlmCall& call) { return call.state == CallState::waiting; })) {
    return make_error(ErrorKind::bad_input,
                      "no call of a model has been answered in it: there is nothing to write",
                      "run " + options.run);
  }
  if (!options.into.empty()) {
    return write_transcript(options.into, *calls);
  }
  const Result<std::string> text = transcript_text(*calls);
  if (text) {
    fmt::print("{}", *text);
  }
  return text ? Status() : Status(text.error());
}

}  // namespace

int show_prompt(const Options& options) {
  Result<Store> store = open_store(options);
  const Status printed = store ? print_prompt(options, *store) : Status(store.error());
  return printed ? exit_done : report_error(options, printed.error());
}

int write_run_transcript(const Options& options) {
  const Result<Store> store = open_store(options);
  const Status printed = store ? print_transcript(options, *store) : Status(store.error());
  return printed ? exit_done : report_error(options, printed.error());
}

}  // namespace kernelpro
