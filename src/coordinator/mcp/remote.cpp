#include "coordinator/mcp/remote.hpp"

#include <nlohmann/json.hpp>

#include "coordinator/mcp/arguments.hpp"

namespace kernelpro::mcp {

namespace {

using nlohmann::json;

bool is_text(const json& source) {
  return source.is_string() && source.get_ref<const std::string&>().find('\n') != std::string::npos;
}

// A whole text, or a plain name: one of the task's own implementations.
bool is_text_or_name(const json& source) {
  return is_text(source) || (source.is_string() && is_plain_name(source.get<std::string>()));
}

}  // namespace

std::string remote_complaint(const std::string& tool, const json& arguments) {
  if (tool == "make_task") {
    return "making a task runs code outside the sandbox: over HTTP that needs the token of an "
           "admin";
  }
  if (arguments.contains("directory")) {
    return "over HTTP nothing is written to folders: leave directory out";
  }
  if (const json task = arguments.value("task", json()); task.is_string() && !is_plain_name(task)) {
    return "over HTTP only registered tasks are judged: give the name of one, list_tasks has them";
  }
  if (arguments.contains("incumbent") && !is_text(arguments["incumbent"])) {
    return "over HTTP the incumbent is a whole text: no files are read";
  }
  json sources = arguments.value("sources", json::array());
  if (arguments.contains("source")) {
    sources.push_back(arguments["source"]);
  }
  for (const json& source : sources) {
    if (!is_text_or_name(source)) {
      return "over HTTP a source is a whole text, or the name of one of the task's own: no files "
             "are read";
    }
  }
  return "";
}

}  // namespace kernelpro::mcp
