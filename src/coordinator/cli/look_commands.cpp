// The commands that look at runs.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "common/base/printable.hpp"
#include "coordinator/app/pages.hpp"
#include "coordinator/app/runs.hpp"
#include "coordinator/cli/commands.hpp"
#include "coordinator/cli/output.hpp"
#include "coordinator/cli/run_output.hpp"
#include "coordinator/report/diff.hpp"
#include "coordinator/report/energy_text.hpp"
#include "coordinator/report/llm_summary.hpp"
#include "coordinator/report/node_text.hpp"
#include "coordinator/report/speed_text.hpp"
#include "coordinator/report/table.hpp"

namespace kernelpro {

namespace {

// The difference to another node, under a heading.
std::string difference(const Node& from, const std::string& before, const ShownNode& shown,
                       const std::string& heading) {
  const Node& to = shown.chosen.node;
  const std::string diff = unified_diff(before, *shown.source, fmt::format("node {}", from.id),
                                        fmt::format("node {}", to.id));
  return fmt::format("{}\n  built before: {} {}\n  built now:    {} {}\n{}", heading,
                     from.compiler.empty() ? "g++" : from.compiler, fmt::join(from.options, " "),
                     to.compiler.empty() ? "g++" : to.compiler, fmt::join(to.options, " "),
                     diff.empty() ? "  the source is the same\n" : diff);
}

Result<std::string> node_page(const ShownNode& shown) {
  const RunReport& report = shown.chosen.report;
  const Node& node = shown.chosen.node;
  Result<std::string> page = node_text(report.nodes, node.id, shown.certificate);
  if (!page) {
    return page;
  }
  if (!shown.calls.empty()) {
    *page += "\ncalls of models\n" + calls_table(shown.calls);
  }
  if (!shown.source) {
    return page;
  }
  const std::string ranking = ranking_text(report.run);
  *page += (ranking.empty() ? "" : "\n" + ranking) + "\nsource\n" + *shown.source;
  if (shown.parent_source) {
    *page += difference(*find_node(report.nodes, node.parent), *shown.parent_source, shown,
                        fmt::format("\ndifference to its parent, node {}", node.parent));
  }
  if (shown.root_source) {
    *page += difference(*find_node(report.nodes, root_node), *shown.root_source, shown,
                        "\ndifference to the baseline");
  }
  return page;
}

void print_lines(const char* heading, const std::vector<std::string>& lines) {
  fmt::print("{}\n", heading);
  for (const std::string& line : lines) {
    fmt::print("  {}\n", line);
  }
}

}  // namespace

int runs_command(const Options& options, std::stop_token /*stop*/) {
  print_store_notices(options);
  const Result<std::vector<RunSummary>> runs = list_runs(options.node.store);
  if (!runs) {
    return report_error(options, runs.error());
  }
  if (options.json) {
    print_json(to_json(*runs));
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

int remove_command(const Options& options, std::stop_token /*stop*/) {
  const Result<std::vector<RunSummary>> removed =
      remove_runs(options.node.store, options.more_runs, options.dry_run);
  if (!removed) {
    return report_error(options, removed.error());
  }
  if (options.json) {
    print_json(to_json(*removed));
    return exit_done;
  }
  for (const RunSummary& run : *removed) {
    fmt::print("{} {}: {} evaluations of {}, begun {}\n",
               options.dry_run ? "would remove" : "removed", run.id, run.evaluations, run.task,
               run.created);
  }
  return exit_done;
}

int tools_command(const Options& options, std::stop_token /*stop*/) {
  print_store_notices(options);
  const Result<std::vector<ToolRecord>> records =
      tool_records(options.node.store, options.more_runs);
  if (!records) {
    return report_error(options, records.error());
  }
  if (options.json) {
    print_json({{"tools", tools_json(*records)}});
  } else {
    fmt::print("{}", tools_table(*records));
  }
  return exit_done;
}

int show_command(const Options& options, std::stop_token /*stop*/) {
  print_store_notices(options);
  const Result<ShownNode> shown = show_node(options.node);
  if (shown && options.json) {
    print_json(to_json(*shown));
    return exit_done;
  }
  const Result<std::string> page = shown ? node_page(*shown) : Result<std::string>(shown.error());
  if (!page) {
    return report_error(options, page.error());
  }
  fmt::print("{}", *page);
  return exit_done;
}

int why_command(const Options& options, std::stop_token /*stop*/) {
  print_store_notices(options);
  const Result<NodeReasons> reasons = explain_node(options.node);
  if (!reasons) {
    return report_error(options, reasons.error());
  }
  if (options.json) {
    print_json(to_json(*reasons));
    return exit_done;
  }
  const Node& node = reasons->node;
  fmt::print("{}\n", reasons->sentence);
  if (!node.plan.empty()) {
    fmt::print("plan: {}\n", printable(node.plan));
  }
  print_lines("why its parent was chosen", node.reasons);
  print_lines("what the search knows of it now", reasons->now);
  if (!reasons->closed.empty()) {
    print_lines("why nothing more is tried on it", reasons->closed);
  }
  return exit_done;
}

int report_command(const Options& options, std::stop_token /*stop*/) {
  print_store_notices(options);
  if (options.more_runs.empty()) {
    const Result<RunReport> report = report_run(options.node.store, options.node.run);
    if (!report) {
      return report_error(options, report.error());
    }
    print_run(options, *report);
    return options.html.empty()
               ? exit_done
               : page_exit_code(options,
                                write_run_page(options.node.store, options.node.run, options.html));
  }
  std::vector<std::string> runs = {options.node.run};
  runs.insert(runs.end(), options.more_runs.begin(), options.more_runs.end());
  const Result<std::vector<RunRow>> rows = report_runs(options.node.store, runs);
  if (!rows) {
    return report_error(options, rows.error());
  }
  if (options.json || options.format == "json") {
    nlohmann::json list = nlohmann::json::array();
    for (const RunRow& row : *rows) {
      list.push_back(run_report_json(row.report));
    }
    print_json({{"runs", std::move(list)}});
  } else {
    fmt::print("{}", runs_table(*rows));
  }
  return exit_done;
}

}  // namespace kernelpro
