#include "coordinator/app/runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <span>

#include "common/wire/json.hpp"
#include "coordinator/app/knowledge.hpp"
#include "coordinator/loop/replay.hpp"
#include "coordinator/report/node_json.hpp"
#include "coordinator/report/sentences.hpp"

namespace kernelpro {

namespace {

Result<Store> open_to_read(const std::filesystem::path& directory) {
  return Store::open(directory, StoreMode::read);
}

// From a move's id to its tier, as the move files of that backend say; empty where there are none.
std::map<std::string, std::string> known_tiers(Backend backend) {
  std::map<std::string, std::string> tiers;
  if (const Result<std::vector<Move>> moves = moves_of(backend); moves) {
    for (const Move& move : *moves) {
      tiers[move.id] = move.tier;
    }
  }
  return tiers;
}

// What only certificates say: where it was judged, the remarks on the best, and why others are in
// doubt.
Status add_evidence(const Store& store, RunReport& report) {
  // A run that was stopped at once has no nodes.
  if (find_node(report.nodes, report.best) != nullptr) {
    KP_LET(const std::optional<Certificate> best,
           store.load_certificate(report.run.id, report.best));
    report.judged_on =
        best ? device_of(best->machine, report.run.settings.judging.backend) : std::string();
    report.remarks =
        best && report.best != root_node ? best->verdict.remarks : std::vector<std::string>();
  }
  const std::size_t shown = std::min(report.faster.size(), most_faster_shown);
  for (FasterNode& one : std::span(report.faster).first(shown)) {
    KP_LET(const std::optional<Certificate> known, store.load_certificate(report.run.id, one.node));
    if (known && known->verdict.suspect && !known->verdict.suspicions.empty()) {
      one.why += " (" + known->verdict.suspicions.front() + ")";
    }
  }
  return {};
}

nlohmann::json summary_json(const RunSummary& run) {
  return {{"id", run.id},
          {"task", run.task},
          {"created", run.created},
          {"state", std::string(name_of(run.state))},
          {"locked", run.locked},
          {"search", run.search},
          {"evaluations", run.evaluations},
          {"budget", run.budget},
          {"best", run.best},
          {"best_speedup", run.best_speedup},
          {"best_at_least", run.best_at_least}};
}

// Models may not have written it yet, or not at all.
bool has_source(const Node& node) {
  return node.state != NodeState::proposing && node.state != NodeState::unwritten;
}

// What the search knows of a node after everything that was recorded.
Result<std::vector<std::string>> search_view(const RunReport& report,
                                             const std::vector<Closure>& closures, NodeId node) {
  const RunSettings& settings = report.run.settings;
  KP_LET(std::unique_ptr<Search> search,
         make_search(settings.search, settings.preset, settings.seed));
  replay({report.nodes, closures}, *search,
         [&](const Node& ended) { search->tell(search_result(ended, settings)); });
  return search->explain(node);
}

// Which sources the shown one is compared with.
Status add_relatives(const Store& store, ShownNode& shown) {
  const Node* parent = find_node(shown.chosen.report.nodes, shown.chosen.node.parent);
  const Node* root = find_node(shown.chosen.report.nodes, root_node);
  const auto load = [&store](const Node& node, std::optional<std::string>& into) -> Status {
    KP_LET(into, store.load_source(node.source_hash));
    return {};
  };
  if (parent != nullptr) {
    KP_TRY(load(*parent, shown.parent_source));
  }
  const bool has_both = parent != nullptr && root != nullptr && parent->id != root_node;
  return has_both ? load(*root, shown.root_source) : Status();
}

Result<RunRow> load_row(const Store& store, const std::string& run) {
  KP_LET(RunReport report, load_report(store, run));
  KP_LET(std::optional<Certificate> best, store.load_certificate(run, report.best));
  return RunRow{std::move(report), std::move(best)};
}

}  // namespace

std::vector<std::string> store_notices(const std::filesystem::path& store) {
  const Result<Store> opened = Store::open(store, StoreMode::read);
  return opened ? opened->notices() : std::vector<std::string>();
}

Result<std::vector<RunSummary>> list_runs(const std::filesystem::path& store) {
  const Result<Store> open = open_to_read(store);
  return open ? open->list_runs() : Result<std::vector<RunSummary>>(open.error());
}

nlohmann::json to_json(const std::vector<RunSummary>& runs) {
  nlohmann::json list = nlohmann::json::array();
  for (const RunSummary& run : runs) {
    list.push_back(summary_json(run));
  }
  return {{"runs", std::move(list)}};
}

Result<RunReport> load_report(const Store& store, const std::string& run) {
  KP_LET(const Run loaded, store.load_run(run));
  KP_LET(const std::vector<Node> nodes, store.load_nodes(run));
  RunReport report = make_run_report(loaded, nodes, known_tiers(loaded.settings.judging.backend));
  if (loaded.settings.llm) {
    KP_LET(const std::vector<LlmCall> calls, store.load_llm_calls(run));
    report.llm = summarize_calls(calls);
  }
  KP_TRY(add_evidence(store, report));
  return report;
}

Result<RunReport> report_run(const std::filesystem::path& store, const std::string& run) {
  const Result<Store> open = open_to_read(store);
  return open ? load_report(*open, run) : Result<RunReport>(open.error());
}

Result<std::vector<RunRow>> report_runs(const std::filesystem::path& store,
                                        const std::vector<std::string>& runs) {
  KP_LET(const Store open, open_to_read(store));
  std::vector<RunRow> rows;
  for (const std::string& run : runs) {
    KP_LET(RunRow row, load_row(open, run));
    rows.push_back(std::move(row));
  }
  return rows;
}

Result<std::vector<ToolRecord>> tool_records(const Store& store,
                                             const std::vector<std::string>& runs) {
  std::vector<ToolRecord> records;
  for (const std::string& run : runs) {
    KP_LET(const std::vector<Node> nodes, store.load_nodes(run));
    const bool found =
        std::ranges::any_of(nodes, [](const Node& one) { return !one.diagnosis.findings.empty(); });
    if (found) {
      KP_LET(const Run about, store.load_run(run));
      KP_LET(const std::optional<Certificate> root, store.load_certificate(run, root_node));
      add_to_records(nodes, root ? device_of(root->machine, about.settings.judging.backend) : "",
                     records);
    }
  }
  return records;
}

Result<std::vector<ToolRecord>> tool_records(const std::filesystem::path& store,
                                             std::vector<std::string> runs) {
  KP_LET(const Store open, open_to_read(store));
  if (runs.empty()) {
    KP_LET(const std::vector<RunSummary> all, open.list_runs());
    std::ranges::transform(all, std::back_inserter(runs), &RunSummary::id);
  }
  return tool_records(open, runs);
}

Result<std::vector<ToolRecord>> recent_tool_records(const Store& store,
                                                    const std::string& but_for) {
  KP_LET(const std::vector<RunSummary> all, store.list_runs());
  std::vector<std::string> runs;
  for (const RunSummary& run : all) {
    if (run.id != but_for) {
      runs.push_back(run.id);
    }
  }
  constexpr std::ptrdiff_t most = 100;
  if (std::ssize(runs) > most) {
    runs.erase(runs.begin(), runs.end() - most);
  }
  return tool_records(store, runs);
}

Result<ChosenNode> choose_node(const Store& store, const NodeRequest& request) {
  KP_LET(RunReport report, load_report(store, request.run));
  const NodeId wanted = request.node.value_or(report.best);
  const Node* found = find_node(report.nodes, wanted);
  if (found == nullptr) {
    return make_error(ErrorKind::bad_input,
                      fmt::format("it has no node {}; its nodes are 0 to {}", wanted,
                                  std::ssize(report.nodes) - 1),
                      "run " + request.run);
  }
  Node node = *found;
  return ChosenNode{std::move(report), std::move(node)};
}

Result<ShownNode> show_node(const NodeRequest& request) {
  KP_LET(const Store store, open_to_read(request.store));
  KP_LET(ChosenNode chosen, choose_node(store, request));
  ShownNode shown;
  shown.chosen = std::move(chosen);
  const Node& node = shown.chosen.node;
  KP_LET(shown.certificate, store.load_certificate(request.run, node.id));
  if (shown.chosen.report.run.settings.llm) {
    KP_LET(std::vector<LlmCall> calls, store.load_llm_calls(request.run));
    std::erase_if(calls, [&node](const LlmCall& call) { return call.node != node.id; });
    shown.calls = std::move(calls);
  }
  if (has_source(node)) {
    KP_LET(shown.source, store.load_source(node.source_hash));
    KP_TRY(add_relatives(store, shown));
  }
  return shown;
}

nlohmann::json to_json(const ShownNode& shown) {
  const RunReport& report = shown.chosen.report;
  return {{"run", report.run.id},
          {"node", node_json(report.nodes, shown.chosen.node.id)},
          {"source", shown.source.value_or("")},
          {"certificate", shown.certificate ? to_json(*shown.certificate) : nlohmann::json()}};
}

Result<NodeReasons> explain_node(const NodeRequest& request) {
  KP_LET(const Store store, open_to_read(request.store));
  KP_LET(ChosenNode chosen, choose_node(store, request));
  KP_LET(const std::vector<Closure> closures, store.load_closures(request.run));
  KP_LET(std::vector<std::string> now, search_view(chosen.report, closures, chosen.node.id));
  NodeReasons out{request.run, "", std::move(chosen.node), std::move(now), {}};
  for (const Closure& closure : closures) {
    if (closure.node == out.node.id) {
      out.closed.push_back(closure.reason);
    }
  }
  out.sentence = node_sentence(chosen.report, out.node, !out.closed.empty());
  return out;
}

nlohmann::json to_json(const NodeReasons& reasons) {
  return {{"run", reasons.run},
          {"node", reasons.node.id},
          {"move", reasons.node.move},
          {"plan", reasons.node.plan},
          {"chosen_because", reasons.node.reasons},
          {"now", reasons.now},
          {"closed_because", reasons.closed}};
}

}  // namespace kernelpro
