#include "coordinator/mcp/prompts.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "common/base/file.hpp"
#include "common/base/paths.hpp"
#include "coordinator/mcp/arguments.hpp"

namespace kernelpro::mcp {

namespace {

using nlohmann::json;

struct Argument {
  const char* name;
  const char* description;
};

struct Prompt {
  const char* name;
  const char* title;
  const char* description;
  std::vector<Argument> arguments;  // all are required
};

const std::vector<Prompt>& prompts() {
  static const std::vector<Prompt> all = {
      {"optimize_kernel",
       "Optimize a kernel",
       "Make a function faster and prove it, candidate by candidate",
       {{"target", "A task's name, or FILE:FUNCTION of your own"},
        {"budget", "How many candidates may be judged"}}},
      {"why_slow",
       "Why is it slow?",
       "Find what holds a kernel back, and say what to do first",
       {{"task", "A task's name or folder"}, {"source", "A file, or the baseline's name"}}},
      {"repair",
       "Repair a candidate",
       "Find why a candidate failed and mend it",
       {{"run", "Name of the run"}, {"node", "Number of the failed node"}}}};
  return all;
}

// The text with each {{NAME}} in the place of its argument. What stands in an argument stays as it
// is.
std::string filled(const std::string& text, const json& arguments) {
  std::string out;
  for (std::size_t at = 0;;) {
    const std::size_t open = text.find("{{", at);
    const std::size_t close = text.find("}}", open);
    if (open == std::string::npos || close == std::string::npos) {
      return out + text.substr(at);
    }
    out += text.substr(at, open - at) +
           text_of(arguments, text.substr(open + 2, close - open - 2).c_str());
    at = close + 2;
  }
}

}  // namespace

json prompt_list() {
  json list = json::array();
  for (const Prompt& prompt : prompts()) {
    json arguments = json::array();
    for (const Argument& one : prompt.arguments) {
      arguments.push_back(
          {{"name", one.name}, {"description", one.description}, {"required", true}});
    }
    list.push_back({{"name", prompt.name},
                    {"title", prompt.title},
                    {"description", prompt.description},
                    {"arguments", std::move(arguments)}});
  }
  return list;
}

Result<json> prompt_result(const std::string& name, const json& arguments) {
  const auto found = std::ranges::find(prompts(), name, &Prompt::name);
  if (found == prompts().end()) {
    return make_error(ErrorKind::bad_input, "there is no such prompt", name.substr(0, 100));
  }
  KP_LET(const std::filesystem::path share, share_directory());
  KP_LET(const std::string text, read_file(share / "knowledge" / "mcp" / (name + ".md")));
  for (const Argument& one : found->arguments) {
    if (!arguments.contains(one.name) || !arguments[one.name].is_string()) {
      return make_error(ErrorKind::bad_input, std::string(one.name) + " is missing", name);
    }
  }
  return json{
      {"description", found->description},
      {"messages",
       {{{"role", "user"}, {"content", {{"type", "text"}, {"text", filled(text, arguments)}}}}}}};
}

}  // namespace kernelpro::mcp
