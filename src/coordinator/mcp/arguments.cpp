#include "coordinator/mcp/arguments.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/base/file.hpp"
#include "common/base/text.hpp"
#include "coordinator/app/opening.hpp"
#include "coordinator/app/tasks.hpp"

namespace kernelpro::mcp {

using nlohmann::json;

std::string text_of(const json& object, const char* key) {
  const json value = object.is_object() ? object.value(key, json()) : json();
  return value.is_string() ? value.get<std::string>() : "";
}

bool is_set(const json& arguments, const char* key) {
  return arguments.value(key, false);
}

Backend backend_of(const json& arguments) {
  return parse_backend(text_of(arguments, "backend")).value_or(Backend::cpu);
}

bool is_plain_name(const std::string& name) {
  return !name.empty() && name.size() <= 200 && !name.starts_with('.') &&
         std::ranges::all_of(
             name, [](char letter) { return is_word(letter) || letter == '.' || letter == '-'; });
}

Result<NodeRequest> node_of(const json& arguments, const ToolSetting& setting) {
  NodeRequest request{setting.store, text_of(arguments, "run"), std::nullopt};
  if (!is_plain_name(request.run)) {
    return make_error(ErrorKind::bad_input,
                      "expected the name of a run, such as gemm-1; show without a run lists them",
                      "run " + request.run);
  }
  if (arguments.contains("node")) {
    request.node = arguments["node"].get<NodeId>();
  }
  return request;
}

Result<std::string> asked_task(const json& arguments, const ToolSetting& setting) {
  const std::string given = text_of(arguments, "task");
  if (!setting.remote) {
    return given;
  }
  KP_LET(const std::filesystem::path folder, find_registered_task(given));
  return folder.string();
}

namespace {

// Over HTTP no file of ours is read: a name is one of the task's own implementations.
Status need_implementation(const std::string& given, const json& arguments,
                           const ToolSetting& setting) {
  KP_LET(const std::string folder, asked_task(arguments, setting));
  KP_LET(const Task task, load_task(folder));
  if (is_implementation(task, given)) {
    return {};
  }
  return make_error(
      ErrorKind::bad_input,
      "expected a whole text, or one of the task's own: " + implementation_names(task),
      "source " + given.substr(0, 100));
}

}  // namespace

Result<std::string> source_file(const std::string& given, const std::string& name,
                                const json& arguments, const ToolSetting& setting) {
  if (given.find('\n') == std::string::npos) {
    KP_TRY(setting.remote && !given.empty() ? need_implementation(given, arguments, setting)
                                            : Status());
    return given;
  }
  KP_TRY(make_directories(setting.scratch));
  const std::filesystem::path file =
      setting.scratch / (name + std::string(traits_of(backend_of(arguments)).extension));
  KP_TRY(write_file_unsynced(file, given));
  return file.string();
}

}  // namespace kernelpro::mcp
