#include "coordinator/mcp/resources.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "coordinator/app/knowledge.hpp"
#include "coordinator/app/runs.hpp"
#include "coordinator/app/tasks.hpp"
#include "coordinator/mcp/arguments.hpp"
#include "coordinator/mcp/rpc.hpp"
#include "coordinator/report/node_text.hpp"
#include "coordinator/report/task_text.hpp"

namespace kernelpro::mcp {

namespace {

using nlohmann::json;

constexpr std::string_view scheme = "kernelpro://";
constexpr const char* markdown = "text/markdown";
constexpr const char* plain = "text/plain";

json entry(const std::string& uri, const std::string& name, const std::string& description,
           const char* type) {
  return {{"uri", std::string(scheme) + uri},
          {"name", name},
          {"description", description},
          {"mimeType", type}};
}

std::vector<std::string> steps_of(const std::string& uri) {
  std::vector<std::string> steps;
  std::istringstream rest(uri.starts_with(scheme) ? uri.substr(scheme.size()) : "");
  for (std::string step; std::getline(rest, step, '/');) {
    steps.push_back(std::move(step));
  }
  return steps;
}

Error unknown(const std::string& uri) {
  return make_error(ErrorKind::bad_input, "there is no such resource", uri.substr(0, 200));
}

Result<std::string> task_resource(const std::string& name) {
  KP_LET(const std::filesystem::path folder, find_registered_task(name));
  KP_LET(const ShownTask shown, show_task(folder.string()));
  const auto reference = shown.task.files.find(shown.task.reference.file);
  return task_text(shown.task) +
         (reference == shown.task.files.end()
              ? ""
              : fmt::format("\nreference, {}\n{}", reference->first, reference->second));
}

Result<std::string> moves_resource(Backend backend) {
  KP_LET(const std::vector<Move> moves, moves_of(backend));
  std::string text;
  for (const Move& move : moves) {
    text += fmt::format("- `{}` ({}): {}; gains about {:g}\n", move.id, move.tier, move.title,
                        move.gain);
  }
  return text;
}

Result<std::string> move_resource(Backend backend, const std::string& id, const std::string& uri) {
  KP_LET(const std::vector<Move> moves, moves_of(backend));
  const auto found = std::ranges::find(moves, id, &Move::id);
  if (found == moves.end()) {
    return unknown(uri);
  }
  std::string text = fmt::format("# {}\n\n{}", found->title, found->advice);
  if (!found->example_source.empty()) {
    text += fmt::format("\n## A whole candidate that shows it\n\n```{}\n{}```\n",
                        traits_of(backend).language, found->example_source);
  }
  return text;
}

Result<std::string> node_resource(const std::filesystem::path& store, const std::string& run,
                                  const std::string& number, const std::string& uri) {
  NodeId node = no_node;
  const char* const end = number.data() + number.size();
  if (const auto [rest, error] = std::from_chars(number.data(), end, node);
      error != std::errc() || rest != end) {
    return unknown(uri);
  }
  KP_LET(const ShownNode shown, show_node({store, run, node}));
  KP_LET(const std::string text, node_text(shown.chosen.report.nodes, node, shown.certificate));
  return text + "\nsource\n" + shown.source.value_or("not written\n");
}

}  // namespace

json resource_list() {
  json list = json::array();
  for (const Backend backend : backends) {
    const std::string name = name_of(backend);
    list.push_back(entry("contract/" + name, "contract of candidates on " + name,
                         "What a candidate must be: interface, options, rules of the judge",
                         markdown));
    list.push_back(entry("moves/" + name, "moves on " + name,
                         "What is known to make kernels faster, a line each", markdown));
    list.push_back(entry("ceilings/" + name, "ceilings of this machine's " + name,
                         "Measured bandwidth and arithmetic; takes a minute the first time",
                         "application/json"));
  }
  for (const TaskListing& task : list_tasks()) {
    list.push_back(entry("task/" + task.name, "task " + task.name, task.summary, plain));
  }
  return list;
}

json resource_templates() {
  const auto row = [](const std::string& uri, const std::string& name,
                      const std::string& description, const char* type) {
    return json{{"uriTemplate", std::string(scheme) + uri},
                {"name", name},
                {"description", description},
                {"mimeType", type}};
  };
  return {row("task/{name}", "task", "What must be computed, with its reference", plain),
          row("move/{backend}/{id}", "move", "How to make it", markdown),
          row("node/{run}/{node}", "node", "A node with its verdict and source", plain)};
}

Result<std::string> read_resource(const std::string& uri, const std::filesystem::path& store) {
  const std::vector<std::string> steps = steps_of(uri);
  if (steps.size() < 2 || !std::ranges::all_of(steps, is_plain_name)) {
    return unknown(uri);
  }
  const std::optional<Backend> backend = parse_backend(steps[1]);
  if (steps.size() == 2) {
    if (steps[0] == "task") {
      return task_resource(steps[1]);
    }
    if (backend && (steps[0] == "contract" || steps[0] == "moves")) {
      return steps[0] == "moves" ? moves_resource(*backend) : contract_of(*backend);
    }
  }
  if (steps.size() == 3 && steps[0] == "move" && backend) {
    return move_resource(*backend, steps[2], uri);
  }
  if (steps.size() == 3 && steps[0] == "node") {
    return node_resource(store, steps[1], steps[2], uri);
  }
  return unknown(uri);
}

json resource_result(const std::string& uri, std::string text) {
  const char* const type = uri.starts_with(ceilings_prefix) ? "application/json" : plain;
  json result = {{"contents", {{{"uri", uri}, {"mimeType", type}, {"text", std::move(text)}}}}};
  bound(result, most_characters - 1000);
  return result;
}

}  // namespace kernelpro::mcp
