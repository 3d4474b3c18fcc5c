// The tools that show runs and take kernels home.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "common/base/file.hpp"
#include "coordinator/app/export_run.hpp"
#include "coordinator/app/optimize.hpp"
#include "coordinator/app/runs.hpp"
#include "coordinator/app/views.hpp"
#include "coordinator/mcp/arguments.hpp"
#include "coordinator/mcp/tools.hpp"
#include "coordinator/report/diff.hpp"
#include "coordinator/report/node_json.hpp"
#include "coordinator/report/sentences.hpp"

namespace kernelpro::mcp {

namespace {

using nlohmann::json;

// Of a text, as much as an answer may have: it is told twice, as text and as structure.
constexpr std::size_t longest_text = 9000;

// A part of a long text, cut at the end of a line where there is one.
json text_view(const std::string& text, const json& arguments) {
  const std::size_t from = std::min(arguments.value("offset", std::size_t{0}), text.size());
  std::size_t end = std::min(from + longest_text, text.size());
  if (const std::size_t line = text.rfind('\n', end);
      end < text.size() && line != std::string::npos && line > from) {
    end = line + 1;
  }
  json view = {{"text", text.substr(from, end - from)}, {"characters", text.size()}};
  if (end < text.size()) {
    view["next_offset"] = end;
  }
  return view;
}

Result<std::string> difference(const ShownNode& shown) {
  const Node& node = shown.chosen.node;
  if (!shown.source || !shown.parent_source) {
    return make_error(ErrorKind::bad_input, "it has no parent to differ from, or no source yet",
                      fmt::format("node {}", node.id));
  }
  const std::string diff =
      unified_diff(*shown.parent_source, *shown.source, fmt::format("node {}", node.parent),
                   fmt::format("node {}", node.id));
  return diff.empty()
             ? fmt::format("the source is the same; built with {}", fmt::join(node.options, " "))
             : diff;
}

std::string reasons_text(const NodeReasons& reasons) {
  return fmt::format(
      "{}\nplan: {}\nwhy its parent was chosen\n{}\nwhat the search knows now\n{}\n{}",
      reasons.sentence, reasons.node.plan, fmt::join(reasons.node.reasons, "\n"),
      fmt::join(reasons.now, "\n"), fmt::join(reasons.closed, "\n"));
}

// A line a node; what was tried and what came of it.
json nodes_view(const RunReport& report) {
  json list = json::array();
  for (const Node& node : report.nodes) {
    list.push_back(
        {{"node", node.id},
         {"parent", node.parent},
         {"move", node.move},
         {"state", name_of(node.state)},
         {"fate", fate_text(node)},
         {"speedup", node.outcome == Outcome::passed ? json(rounded(node.speedup)) : json()}});
  }
  return list;
}

Result<json> shown_node(const NodeRequest& request, const std::string& part,
                        const json& arguments) {
  KP_LET(const ShownNode shown, show_node(request));
  if (part == "source") {
    return text_view(shown.source.value_or(""), arguments);
  }
  if (part == "diff") {
    KP_LET(const std::string text, difference(shown));
    return text_view(text, arguments);
  }
  json out = {{"summary", run_view(shown.chosen.report)},
              {"node", node_json(shown.chosen.report.nodes, shown.chosen.node.id)}};
  if (shown.certificate) {
    out["verdict"] = verdict_view(*shown.certificate);
  }
  return out;
}

// The best of a run that ended, or was left, without a confirmed one.
Status confirm_first(const NodeRequest& what, const ToolSetting& setting) {
  KP_LET(const RunReport report, report_run(what.store, what.run));
  if (what.node || report.confirmed || report.best == root_node) {
    return {};
  }
  KP_LET(const RunOutcome outcome,
         confirm(ResumeRequest{what.store, what.run, {}}, setting.watcher, setting.stop));
  return outcome.error ? Status(*outcome.error) : Status();
}

std::string patch_in(const std::filesystem::path& directory,
                     const std::vector<std::filesystem::path>& files) {
  for (const std::filesystem::path& file : files) {
    if (file.extension() == ".patch") {
      return read_file(directory / file).value();
    }
  }
  return "";
}

}  // namespace

Result<json> show_tool(const json& arguments, const ToolSetting& setting) {
  if (!arguments.contains("run")) {
    const Result<std::vector<RunSummary>> runs = list_runs(setting.store);
    return runs ? to_json(*runs) : json{{"runs", json::array()}, {"text", runs.error().text()}};
  }
  KP_LET(const NodeRequest request, node_of(arguments, setting));
  const std::string part = arguments.value("part", "summary");
  if (part == "why") {
    KP_LET(const NodeReasons reasons, explain_node(request));
    return text_view(reasons_text(reasons), arguments);
  }
  if (part == "report" || (part == "summary" && !request.node)) {
    KP_LET(const RunReport report, report_run(setting.store, request.run));
    return part == "report" ? text_view(run_report_text(report), arguments)
                            : json{{"summary", run_view(report)}, {"nodes", nodes_view(report)}};
  }
  return shown_node(request, part, arguments);
}

Result<json> export_tool(const json& arguments, const ToolSetting& setting) {
  ExportRequest request;
  KP_LET(request.what, node_of(arguments, setting));
  request.form = parse_export_form(text_of(arguments, "form"));
  const std::string given = text_of(arguments, "directory");
  request.directory =
      given.empty() ? setting.store / "exports" /
                          fmt::format("{}-{}", request.what.run, arguments.value("form", "source"))
                    : std::filesystem::path(given);
  request.overwrite = given.empty();
  KP_TRY(confirm_first(request.what, setting));
  KP_LET(const Exported exported, export_run(request));
  if (exported.nothing) {
    return *exported.nothing;
  }
  json files = json::array();
  for (const std::filesystem::path& file : exported.files) {
    files.push_back(file.string());
  }
  json out = {{"directory", request.directory.string()},
              {"files", std::move(files)},
              {"node", exported.node},
              {"confirmed", exported.confirmed}};
  if (std::string patch = patch_in(request.directory, exported.files); !patch.empty()) {
    out["patch"] = std::move(patch);
  }
  if (!exported.without_patch.empty()) {
    out["note"] = exported.without_patch;
  }
  return out;
}

}  // namespace kernelpro::mcp
