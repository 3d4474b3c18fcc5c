#include "coordinator/mcp/tools.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/base/file.hpp"
#include "common/base/paths.hpp"
#include "common/wire/json.hpp"

namespace kernelpro::mcp {

namespace {

using nlohmann::json;

Result<json> load_schema(const std::string& file) {
  KP_LET(const std::filesystem::path share, share_directory());
  const std::filesystem::path path = share / "schemas" / file;
  KP_LET(const std::string text, read_file(path));
  const Result<json> parsed = parse_json(text);
  return parsed ? parsed : make_error(parsed.error().kind, parsed.error().message, path.string());
}

// Clients read no other files: what is referred to takes the place of the reference.
Status inline_references(json& schema) {
  if (schema.is_object() && schema.contains("$ref")) {
    KP_LET(schema, load_schema(schema["$ref"].get<std::string>()));
    schema.erase("$schema");
    schema.erase("title");
  }
  if (schema.is_structured()) {
    for (json& part : schema) {
      KP_TRY(inline_references(part));
    }
  }
  return {};
}

}  // namespace

const std::vector<Tool>& tools() {
  static const std::vector<Tool> all = {{"list_tasks", false, list_tasks_tool},
                                        {"make_task", true, make_task_tool},
                                        {"evaluate", true, evaluate_tool},
                                        {"diagnose", true, diagnose_tool},
                                        {"start_run", true, start_run_tool},
                                        {"next_proposal", true, next_proposal_tool},
                                        {"submit", true, submit_tool},
                                        {"show", false, show_tool},
                                        {"code_search", false, code_search_tool},
                                        {"export", true, export_tool},
                                        {"job", false, nullptr}};
  return all;
}

const Tool* find_tool(std::string_view name) {
  static const Tool ceilings{ceilings_job, true, ceilings_tool};
  const auto found = std::ranges::find(tools(), name, &Tool::name);
  if (found != tools().end()) {
    return &*found;
  }
  return name == ceilings_job ? &ceilings : nullptr;
}

Result<json> tool_definition(std::string_view name) {
  KP_LET(json definition, load_schema("mcp_" + std::string(name) + ".json"));
  KP_TRY(inline_references(definition));
  return definition;
}

}  // namespace kernelpro::mcp
