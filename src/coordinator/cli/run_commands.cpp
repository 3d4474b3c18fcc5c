#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/wire/json.hpp"
#include "coordinator/cli/chosen_node.hpp"
#include "coordinator/cli/commands.hpp"
#include "coordinator/cli/output.hpp"
#include "coordinator/cli/run_output.hpp"
#include "coordinator/loop/replay.hpp"
#include "coordinator/report/diff.hpp"
#include "coordinator/report/energy_text.hpp"
#include "coordinator/report/llm_summary.hpp"
#include "coordinator/report/node_json.hpp"
#include "coordinator/report/node_text.hpp"
#include "coordinator/report/runs_table.hpp"
#include "coordinator/report/speed_text.hpp"
#include "coordinator/report/table.hpp"
#include "coordinator/report/tools_table.hpp"

namespace kernelpro {

namespace {

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

// The difference to another node, under a heading.
Result<std::string> difference(const Store& store, const Node& from, const Node& to,
                               const std::string& heading) {
  const Result<std::string> before = store.load_source(from.source_hash);
  const Result<std::string> after = store.load_source(to.source_hash);
  if (!before || !after) {
    return before ? after.error() : before.error();
  }
  std::string text =
      fmt::format("{}\n  built before: {} {}\n  built now:    {} {}\n", heading,
                  from.compiler.empty() ? "g++" : from.compiler, fmt::join(from.options, " "),
                  to.compiler.empty() ? "g++" : to.compiler, fmt::join(to.options, " "));
  const std::string diff =
      unified_diff(*before, *after, fmt::format("node {}", from.id), fmt::format("node {}", to.id));
  return text + (diff.empty() ? "  the source is the same\n" : diff);
}

// Models may not have written it yet, or not at all.
bool has_source(const Node& node) {
  return node.state != NodeState::proposing && node.state != NodeState::unwritten;
}

// What models were asked for the node, under a heading; empty where none was.
Result<std::string> calls_of(const Store& store, const ChosenNode& chosen) {
  if (!chosen.report.run.settings.llm) {
    return std::string();
  }
  Result<std::vector<LlmCall>> calls = store.load_llm_calls(chosen.report.run.id);
  if (!calls) {
    return calls.error();
  }
  std::erase_if(*calls, [&chosen](const LlmCall& call) { return call.node != chosen.node.id; });
  return calls->empty() ? std::string() : "\ncalls of models\n" + calls_table(*calls);
}

Result<std::string> node_page(const Store& store, const ChosenNode& chosen) {
  const std::string& run = chosen.report.run.id;
  const Result<std::optional<Certificate>> certificate =
      store.load_certificate(run, chosen.node.id);
  if (!certificate) {
    return certificate.error();
  }
  Result<std::string> text = node_text(chosen.report.nodes, chosen.node.id, *certificate);
  const Result<std::string> calls = calls_of(store, chosen);
  if (!text || !calls) {
    return text ? calls.error() : text.error();
  }
  *text += *calls;
  if (!has_source(chosen.node)) {
    return text;
  }
  const Result<std::string> source = store.load_source(chosen.node.source_hash);
  if (!source) {
    return source.error();
  }
  const std::string ranking = ranking_text(chosen.report.run);
  std::string page = *text + (ranking.empty() ? "" : "\n" + ranking) + "\nsource\n" + *source;
  const Node* parent = find_node(chosen.report.nodes, chosen.node.parent);
  const Node* root = find_node(chosen.report.nodes, root_node);
  if (parent != nullptr) {
    const Result<std::string> diff =
        difference(store, *parent, chosen.node,
                   fmt::format("\ndifference to its parent, node {}", parent->id));
    if (!diff) {
      return diff;
    }
    page += *diff;
  }
  if (root != nullptr && parent != nullptr && parent->id != root_node) {
    const Result<std::string> diff =
        difference(store, *root, chosen.node, "\ndifference to the baseline");
    if (!diff) {
      return diff;
    }
    page += *diff;
  }
  return page;
}

Result<nlohmann::json> node_document(const Store& store, const ChosenNode& chosen) {
  const Result<std::optional<Certificate>> certificate =
      store.load_certificate(chosen.report.run.id, chosen.node.id);
  const Result<std::string> source = has_source(chosen.node)
                                         ? store.load_source(chosen.node.source_hash)
                                         : Result<std::string>(std::string());
  if (!certificate || !source) {
    return certificate ? source.error() : certificate.error();
  }
  nlohmann::json json = {{"run", chosen.report.run.id},
                         {"node", node_json(chosen.report.nodes, chosen.node.id)},
                         {"source", *source}};
  json["certificate"] = *certificate ? to_json(**certificate) : nlohmann::json();
  return json;
}

// What the search knows of a node after everything that was recorded.
Result<std::vector<std::string>> search_view(const RunReport& report,
                                             const std::vector<Closure>& closures, NodeId node) {
  const RunSettings& settings = report.run.settings;
  Result<std::unique_ptr<Search>> search =
      make_search(settings.search, settings.preset, settings.seed);
  if (!search) {
    return search.error();
  }
  replay({report.nodes, closures}, **search,
         [&](const Node& ended) { (*search)->tell(search_result(ended, settings)); });
  return (*search)->explain(node);
}

void print_lines(const char* heading, const std::vector<std::string>& lines) {
  fmt::print("{}\n", heading);
  for (const std::string& line : lines) {
    fmt::print("  {}\n", line);
  }
}

}  // namespace

int list_runs(const Options& options) {
  const Result<Store> store = open_store(options);
  const Result<std::vector<RunSummary>> runs =
      store ? store->list_runs() : Result<std::vector<RunSummary>>(store.error());
  if (!runs) {
    return report_error(options, runs.error());
  }
  if (options.json) {
    nlohmann::json list = nlohmann::json::array();
    for (const RunSummary& run : *runs) {
      list.push_back(summary_json(run));
    }
    print_json({{"runs", std::move(list)}});
    return exit_done;
  }
  Table table({"run", "task", "state", "judged", "best", "node", "search", "began"});
  for (const RunSummary& run : *runs) {
    table.add({run.id, run.task, run.locked ? "working" : std::string(name_of(run.state)),
               fmt::format("{}/{}", run.evaluations, run.budget),
               run.best > root_node ? times_words(run.best_speedup, run.best_at_least) : "–",
               run.best > root_node ? std::to_string(run.best) : "–", run.search, run.created});
  }
  fmt::print("{}",
             runs->empty() ? "no runs yet; `kernelpro optimize TASK` makes one\n" : table.text());
  return exit_done;
}

int list_tools(const Options& options) {
  const Result<Store> store = open_store(options);
  if (!store) {
    return report_error(options, store.error());
  }
  std::vector<std::string> runs = options.more_runs;
  if (runs.empty()) {
    const Result<std::vector<RunSummary>> all = store->list_runs();
    if (!all) {
      return report_error(options, all.error());
    }
    for (const RunSummary& run : *all) {
      runs.push_back(run.id);
    }
  }
  std::vector<ToolRecord> records;
  for (const std::string& run : runs) {
    const Result<std::vector<Node>> nodes = store->load_nodes(run);
    if (!nodes) {
      return report_error(options, nodes.error());
    }
    add_to_records(*nodes, records);
  }
  if (options.json) {
    print_json({{"tools", tools_json(records)}});
  } else {
    fmt::print("{}", tools_table(records));
  }
  return exit_done;
}

int show_node(const Options& options) {
  const Result<Store> store = open_store(options);
  const Result<ChosenNode> chosen =
      store ? choose_node(options, *store) : Result<ChosenNode>(store.error());
  if (!chosen) {
    return report_error(options, chosen.error());
  }
  if (options.json) {
    const Result<nlohmann::json> document = node_document(*store, *chosen);
    if (!document) {
      return report_error(options, document.error());
    }
    print_json(*document);
    return exit_done;
  }
  const Result<std::string> page = node_page(*store, *chosen);
  if (!page) {
    return report_error(options, page.error());
  }
  fmt::print("{}", *page);
  return exit_done;
}

int explain_node(const Options& options) {
  const Result<Store> store = open_store(options);
  const Result<ChosenNode> chosen =
      store ? choose_node(options, *store) : Result<ChosenNode>(store.error());
  if (!chosen) {
    return report_error(options, chosen.error());
  }
  const Result<std::vector<Closure>> closures = store->load_closures(options.run);
  const Result<std::vector<std::string>> view =
      closures ? search_view(chosen->report, *closures, chosen->node.id)
               : Result<std::vector<std::string>>(closures.error());
  if (!view) {
    return report_error(options, view.error());
  }
  std::vector<std::string> closed;
  for (const Closure& closure : *closures) {
    if (closure.node == chosen->node.id) {
      closed.push_back(closure.reason);
    }
  }
  const Node& node = chosen->node;
  if (options.json) {
    print_json({{"run", options.run},
                {"node", node.id},
                {"move", node.move},
                {"plan", node.plan},
                {"chosen_because", node.reasons},
                {"now", *view},
                {"closed_because", closed}});
    return exit_done;
  }
  fmt::print("node {} of run {}: {}\n", node.id, options.run, node.plan);
  print_lines("why its parent was chosen", node.reasons);
  print_lines("what the search knows of it now", *view);
  if (!closed.empty()) {
    print_lines("why nothing more is tried on it", closed);
  }
  return exit_done;
}

namespace {

Result<RunRow> load_row(const Store& store, const std::string& run) {
  Result<RunReport> report = load_report(store, run);
  if (!report) {
    return report.error();
  }
  Result<std::optional<Certificate>> best = store.load_certificate(run, report->best);
  if (!best) {
    return best.error();
  }
  return RunRow{std::move(*report), std::move(*best)};
}

int report_table(const Options& options, const Store& store) {
  std::vector<std::string> runs = {options.run};
  runs.insert(runs.end(), options.more_runs.begin(), options.more_runs.end());
  std::vector<RunRow> rows;
  nlohmann::json list = nlohmann::json::array();
  for (const std::string& run : runs) {
    Result<RunRow> row = load_row(store, run);
    if (!row) {
      return report_error(options, row.error());
    }
    list.push_back(run_report_json(row->report));
    rows.push_back(std::move(*row));
  }
  if (options.json || options.format == "json") {
    print_json({{"runs", std::move(list)}});
  } else {
    fmt::print("{}", runs_table(rows));
  }
  return exit_done;
}

}  // namespace

int report_run(const Options& options) {
  const Result<Store> store = open_store(options);
  if (store && !options.more_runs.empty()) {
    return report_table(options, *store);
  }
  const Result<Run> run = store ? store->load_run(options.run) : Result<Run>(store.error());
  const Result<RunReport> printed =
      run ? print_run(options, *store, *run) : Result<RunReport>(run.error());
  return printed ? exit_done : report_error(options, printed.error());
}

}  // namespace kernelpro
