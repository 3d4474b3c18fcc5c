#include "coordinator/propose/agents/code_tools.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>

#include "common/wire/json.hpp"
#include "coordinator/propose/agents/text.hpp"

namespace kernelpro::agents {

namespace {

using Passages = std::vector<CodePassage>;

// About 2300 tokens.
constexpr std::size_t longest_look = 8000;

Result<Passages> read_passage(const CodeLibrary& library, const std::string& place) {
  KP_LET(CodePassage passage, library.read(place));
  return Passages{std::move(passage)};
}

struct CodeTool {
  const char* name;
  const char* argument;
  const char* description;
  Result<Passages> (*look)(const CodeLibrary& library, const std::string& about);
};

constexpr std::array<CodeTool, 3> tools = {{
    {"search_code", "words",
     "Searches the indexed code by words; parts of identifiers will do. Shows the best place of "
     "each of a few files.",
     [](const CodeLibrary& library, const std::string& words) { return library.search(words); }},
    {"find_symbol", "name", "Shows where NAME or SCOPE::NAME is defined in the indexed code.",
     [](const CodeLibrary& library, const std::string& name) { return library.symbol(name); }},
    {"read_code", "place", "Shows lines of an indexed file: FILE:FIRST-LAST.", read_passage},
}};

const CodeTool* find_tool(const std::string& name) {
  const auto* found = std::find_if(tools.begin(), tools.end(),
                                   [&name](const CodeTool& tool) { return name == tool.name; });
  return found == tools.end() ? nullptr : found;
}

// The only argument; nothing where there are others, or it is no text.
std::optional<std::string> argument_of(const CodeTool& tool, const ToolCall& call) {
  const Result<nlohmann::json> parsed = parse_json(call.arguments);
  if (!parsed || !parsed->is_object() || parsed->size() != 1 || !parsed->contains(tool.argument) ||
      !parsed->at(tool.argument).is_string()) {
    return std::nullopt;
  }
  return parsed->at(tool.argument).get<std::string>();
}

ChatMessage refused_look(ChatMessage message, std::string why) {
  message.text = std::move(why);
  message.failed = true;
  return message;
}

}  // namespace

std::vector<ToolSpec> code_tools() {
  std::vector<ToolSpec> specs;
  specs.reserve(tools.size());
  for (const CodeTool& tool : tools) {
    specs.push_back(
        {tool.name, tool.description,
         fmt::format(R"({{"type":"object","additionalProperties":false,"required":["{0}"],)"
                     R"("properties":{{"{0}":{{"type":"string"}}}}}})",
                     tool.argument)});
  }
  return specs;
}

bool is_code_tool(const std::string& name) {
  return find_tool(name) != nullptr;
}

ChatMessage answer_code_call(const CodeLibrary& library, const ToolCall& call,
                             std::vector<std::string>& learned) {
  const CodeTool& tool = *find_tool(call.name);
  ChatMessage message;
  message.speaker = Speaker::tool;
  message.answers = call.id;
  const std::optional<std::string> about = argument_of(tool, call);
  if (!about) {
    return refused_look(
        std::move(message),
        fmt::format("The arguments cannot be used. Expected is {{\"{}\": \"…\"}}.", tool.argument));
  }
  const Result<Passages> found = tool.look(library, *about);
  if (!found) {
    return refused_look(std::move(message), found.error().text());
  }
  for (const CodePassage& passage : *found) {
    learned.push_back(place_of(passage));
  }
  message.text =
      found->empty() ? "Nothing was found." : quoted_passages(*found, found->size(), longest_look);
  return message;
}

std::string quoted_passages(const Passages& passages, std::size_t count, std::size_t most_bytes) {
  std::string out;
  count = std::min(count, passages.size());
  for (std::size_t at = 0; at < count; ++at) {
    const std::size_t share = (most_bytes - std::min(out.size(), most_bytes)) / (count - at);
    out += fmt::format("{}`{}`\n\n{}\n", at == 0 ? "" : "\n", place_of(passages[at]),
                       fenced("cpp", shortened(passages[at].text, share)));
  }
  return out;
}

}  // namespace kernelpro::agents
