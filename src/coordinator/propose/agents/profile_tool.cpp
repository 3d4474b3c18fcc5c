#include "coordinator/propose/agents/profile_tool.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "common/wire/json.hpp"
#include "common/wire/reader.hpp"
#include "coordinator/propose/agents/profile_text.hpp"
#include "coordinator/propose/agents/section.hpp"

namespace kernelpro::agents {

namespace {

enum class About { summary, findings, figures };

constexpr const char* known_topics = R"("class", "findings" or "figures")";

std::optional<About> parse_about(std::string_view name) {
  if (name == "class") {
    return About::summary;
  }
  if (name == "findings") {
    return About::findings;
  }
  return name == "figures" ? std::optional(About::figures) : std::nullopt;
}

About about_from(const wire::Place& place) {
  wire::Fields fields(place);
  const About about = fields.at("about").name(parse_about, known_topics);
  fields.end();
  return about;
}

// Raw feedback has figures alone.
std::string shown_about(const AgentOrder& order, About about) {
  const bool advice = order.run->settings.feedback == Feedback::tools;
  if (about != About::figures && !advice) {
    return "Only figures are shown in this run.";
  }
  std::string text;
  switch (about) {
    case About::summary:
      text = class_text(order);
      break;
    case About::findings:
      text = findings_text(order, Shown::all);
      break;
    case About::figures:
      text = figures_text(order);
      break;
  }
  return text.empty() ? "There is nothing about that." : text;
}

ChatMessage refused(ChatMessage message, const std::string& why) {
  message.text = why;
  message.failed = true;
  return message;
}

}  // namespace

bool offers_profile_tool(const AgentOrder& order) {
  const RunSettings& settings = order.run->settings;
  const bool reactive = settings.llm && settings.llm->tools == ToolUse::reactive;
  const Node& parent = order.parent_tried.node;
  return reactive && settings.feedback != Feedback::none && !has_failed(parent) &&
         !has_no_kernel(order);
}

ToolSpec profile_tool() {
  return {profile_tool_name,
          "Shows what is known of how the parent runs: the class of its bottleneck, findings with "
          "their causes and predicted gains, or the figures.",
          R"({"type":"object","additionalProperties":false,"required":["about"],"properties":)"
          R"({"about":{"type":"string","enum":["class","findings","figures"]}}})"};
}

ChatMessage answer_tool_call(const AgentOrder& order, const ToolCall& call) {
  ChatMessage message;
  message.speaker = Speaker::tool;
  message.answers = call.id;
  if (call.name != profile_tool_name) {
    return refused(message, fmt::format("There is no tool \"{}\"; there is {}.", call.name,
                                        profile_tool_name));
  }
  const Result<nlohmann::json> json = parse_json(call.arguments);
  const Result<About> about =
      json ? wire::read_document(*json, about_from) : Result<About>(json.error());
  if (!about) {
    return refused(message,
                   fmt::format("The arguments cannot be used: {}. Expected is {{\"about\": {}}}.",
                               about.error().text(), known_topics));
  }
  message.text = shown_about(order, *about);
  return message;
}

}  // namespace kernelpro::agents
