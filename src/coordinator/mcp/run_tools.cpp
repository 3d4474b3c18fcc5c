// The tools that work on runs: our search, the client's model.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "coordinator/app/client_run.hpp"
#include "coordinator/app/knowledge.hpp"
#include "coordinator/app/run_memory.hpp"
#include "coordinator/app/tasks.hpp"
#include "coordinator/app/views.hpp"
#include "coordinator/mcp/arguments.hpp"
#include "coordinator/mcp/tools.hpp"
#include "coordinator/report/sentences.hpp"
#include "coordinator/report/task_text.hpp"

namespace kernelpro::mcp {

namespace {

using nlohmann::json;

constexpr std::int64_t default_budget = 20;

// A remote client works on no run that would judge outside the sandbox, ask a paid model or start
// workers of the operator's.
Status need_run_of_clients(const std::string& run, const ToolSetting& setting) {
  if (!setting.remote) {
    return {};
  }
  KP_LET(const RunReport report, report_run(setting.store, run));
  if (is_for_any_client(report.run.settings)) {
    return {};
  }
  return make_error(ErrorKind::bad_input,
                    "over HTTP only runs that start_run began are worked on; the others need the "
                    "token of an admin",
                    "run " + run);
}

Result<RunOutcome> begin(const json& arguments, const ToolSetting& setting) {
  OptimizeRequest request;
  KP_LET(request.task, asked_task(arguments, setting));
  request.store = setting.store;
  request.settings.judging.backend = backend_of(arguments);
  request.settings.memory = memory_on;
  request.settings.evaluations = arguments.value("budget", default_budget);
  request.settings.search = arguments.value("search", request.settings.search);
  return begin_client_run(std::move(request), arguments.value("parallel", 1), setting.watcher,
                          setting.stop);
}

Result<RunOutcome> go_on_with(const json& arguments, const ToolSetting& setting) {
  KP_LET(const NodeRequest named, node_of(arguments, setting));
  KP_TRY(need_run_of_clients(named.run, setting));
  ResumeRequest request{setting.store, named.run, {}};
  if (arguments.contains("budget")) {
    request.changes.evaluations = arguments["budget"].get<std::int64_t>();
  }
  return resume(request, setting.watcher, setting.stop);
}

// What cut the work short is told as the error that it is.
Result<RunOutcome> whole(Result<RunOutcome> outcome) {
  if (outcome && outcome->error) {
    return *outcome->error;
  }
  if (outcome && outcome->stopped) {
    return make_error(ErrorKind::interrupted, "interrupted", "run " + outcome->report.run.id);
  }
  return outcome;
}

// Its place among those that passed and may be the best, by their speed.
void add_rank(const RunReport& report, const Node& node, json& out) {
  std::int64_t faster = 0;
  std::int64_t passed = 0;
  for (const Node& one : report.nodes) {
    if (one.id == root_node || one.outcome != Outcome::passed) {
      continue;
    }
    ++passed;
    faster += one.speedup > node.speedup ? 1 : 0;
  }
  if (node.outcome == Outcome::passed) {
    out["speedup"] = rounded(node.speedup);
    out["rank"] = faster + 1;
    out["of"] = passed;
  }
}

}  // namespace

Result<json> start_run_tool(const json& arguments, const ToolSetting& setting) {
  if (arguments.contains("task") == arguments.contains("run")) {
    return make_error(ErrorKind::bad_input, "give a task to begin with, or a run to go on with");
  }
  KP_LET(const RunOutcome outcome,
         whole(arguments.contains("task") ? begin(arguments, setting)
                                          : go_on_with(arguments, setting)));
  const Run& run = outcome.report.run;
  KP_LET(const std::string contract, contract_of(run.settings.judging.backend));
  return json{{"run", run.id},
              {"summary", run_view(outcome.report)},
              {"contract", contract},
              {"task", task_text(run.task)}};
}

Result<json> next_proposal_tool(const json& arguments, const ToolSetting& setting) {
  KP_LET(const NodeRequest named, node_of(arguments, setting));
  KP_TRY(need_run_of_clients(named.run, setting));
  const ProposalRequest request{setting.store, named.run, is_set(arguments, "take_over")};
  KP_LET(const ProposalOffer offer, next_proposal(request, setting.watcher, setting.stop));
  json out = {{"summary", run_view(offer.report)}};
  if (!offer.proposal) {
    out["none"] = offer.why_none;
    return out;
  }
  const LeasedProposal& proposal = *offer.proposal;
  out.update({{"proposal", proposal.id},
              {"node", proposal.node},
              {"parent", proposal.parent},
              {"repair", proposal.repair},
              {"until", proposal.until},
              {"brief", proposal.brief}});
  return out;
}

Result<json> submit_tool(const json& arguments, const ToolSetting& setting) {
  Submission submission;
  submission.move = arguments.value("move", "own_idea");
  submission.plan = text_of(arguments, "plan");
  submission.predicted_gain = arguments.value("predicted_gain", 1.0);
  submission.source = text_of(arguments, "source");
  submission.author = setting.client;
  const std::string proposal = text_of(arguments, "proposal");
  const std::string run = proposal.substr(0, proposal.find('/'));
  if (!is_plain_name(run)) {
    return make_error(ErrorKind::bad_input, "expected the id that next_proposal gave",
                      "proposal " + proposal);
  }
  KP_TRY(need_run_of_clients(run, setting));
  KP_LET(const SubmittedNode submitted,
         submit(setting.store, proposal, submission, setting.watcher, setting.stop));
  KP_LET(const RunOutcome outcome, whole(submitted.outcome));
  const RunReport& report = outcome.report;
  KP_LET(const ShownNode shown, show_node({setting.store, report.run.id, submitted.node}));
  const Node& node = shown.chosen.node;
  json out = {{"node", node.id},
              {"fate", node_sentence(report, node, false) +
                           (node.state == NodeState::unwritten ? " " + node.summary : "")},
              {"summary", run_view(report)}};
  if (shown.certificate) {
    out["verdict"] = verdict_view(*shown.certificate);
  }
  if (node.outcome == Outcome::passed) {
    out["diagnosis"] = diagnosis_view(node.diagnosis, report.run.settings.judging.backend);
  }
  add_rank(report, node, out);
  return out;
}

}  // namespace kernelpro::mcp
