#include "coordinator/propose/agents/profile_tool.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "common/wire/form.hpp"
#include "common/wire/json.hpp"
#include "coordinator/propose/agents/profile_text.hpp"
#include "coordinator/propose/agents/section.hpp"

namespace kernelpro::agents {

constexpr const char* known_topics = R"("class", "findings" or "figures")";

// The arguments of the tool.
struct ProfileQuestion {
  std::string about;
};

void describe(Form& form, ProfileQuestion& question) {
  const std::string& about = question.about;
  form("about", question.about);
  form.expect(about == "class" || about == "findings" || about == "figures",
              std::string("one of ") + known_topics);
}

namespace {

// Raw feedback has figures alone.
std::string shown_about(const AgentOrder& order, const std::string& about) {
  const bool figures = about == "figures";
  if (!figures && order.run->settings.feedback != Feedback::tools) {
    return "Only figures are shown in this run.";
  }
  std::string text;
  if (figures) {
    text = figures_text(order);
  } else {
    text = about == "class" ? class_text(order) : findings_text(order, Shown::all);
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

ChatMessage answer_profile_call(const AgentOrder& order, const ToolCall& call) {
  ChatMessage message;
  message.speaker = Speaker::tool;
  message.answers = call.id;
  const Result<nlohmann::json> json = parse_json(call.arguments);
  const Result<ProfileQuestion> question =
      json ? wire::read_whole<ProfileQuestion>(*json) : Result<ProfileQuestion>(json.error());
  if (!question) {
    return refused(message,
                   fmt::format("The arguments cannot be used: {}. Expected is {{\"about\": {}}}.",
                               question.error().text(), known_topics));
  }
  message.text = shown_about(order, question->about);
  return message;
}

}  // namespace kernelpro::agents
