#include "coordinator/mcp/completion.hpp"

#include <algorithm>
#include <functional>

#include "coordinator/app/knowledge.hpp"
#include "coordinator/app/runs.hpp"
#include "coordinator/app/tasks.hpp"

namespace kernelpro::mcp {

namespace {

namespace fs = std::filesystem;
using Values = std::vector<std::string>;

std::string known_value(const TypedArgument& typed, const std::string& name) {
  const auto found = typed.known.find(name);
  return found == typed.known.end() ? "" : found->second;
}

Values task_names() {
  Values names;
  for (const TaskListing& task : list_tasks()) {
    names.push_back(task.name);
  }
  return names;
}

Values run_names(const fs::path& store) {
  Values names;
  if (const auto runs = list_runs(store); runs) {
    for (const RunSummary& run : *runs) {
      names.push_back(run.id);
    }
  }
  return names;
}

Values node_numbers(const fs::path& store, const std::string& run) {
  Values numbers;
  if (const auto report = report_run(store, run); report) {
    for (const Node& node : report->nodes) {
      numbers.push_back(std::to_string(node.id));
    }
  }
  return numbers;
}

Values baselines_of(const std::string& task) {
  Values names;
  const Result<fs::path> folder = find_registered_task(task);
  const Result<Task> loaded = folder ? load_task(*folder) : Result<Task>(folder.error());
  if (loaded) {
    for (const ImplementationSpec& one : loaded->baselines) {
      names.push_back(one.name);
    }
  }
  return names;
}

Values backend_names() {
  Values names;
  for (const Backend backend : backends) {
    names.push_back(name_of(backend));
  }
  return names;
}

Values move_names(const std::string& backend) {
  Values names;
  if (const auto moves = moves_of(parse_backend(backend).value_or(Backend::cpu)); moves) {
    for (const Move& move : *moves) {
      names.push_back(move.id);
    }
  }
  return names;
}

// By the names of the arguments of prompts and of the parts of addresses.
Values values_of(const TypedArgument& typed, const fs::path& store) {
  const std::map<std::string, std::function<Values()>> known = {
      {"target", task_names},
      {"task", task_names},
      {"name", task_names},
      {"source", [&] { return baselines_of(known_value(typed, "task")); }},
      {"run", [&] { return run_names(store); }},
      {"node", [&] { return node_numbers(store, known_value(typed, "run")); }},
      {"backend", backend_names},
      {"id", [&] { return move_names(known_value(typed, "backend")); }}};
  const auto found = known.find(typed.name);
  return found == known.end() ? Values() : found->second();
}

}  // namespace

Values completions(const TypedArgument& typed, const fs::path& store) {
  Values values = values_of(typed, store);
  std::erase_if(values, [&](const std::string& value) { return !value.starts_with(typed.value); });
  if (typed.name != "node") {
    std::ranges::sort(values);
  }
  return values;
}

}  // namespace kernelpro::mcp
