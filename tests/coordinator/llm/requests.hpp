// Requests that the tests of the providers share.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "coordinator/llm/chat.hpp"

namespace kernelpro {

inline ChatMessage user_says(std::string text) {
  ChatMessage message;
  message.text = std::move(text);
  return message;
}

inline ChatMessage assistant_says(std::string text, std::vector<ToolCall> calls = {}) {
  ChatMessage message;
  message.speaker = Speaker::assistant;
  message.text = std::move(text);
  message.calls = std::move(calls);
  return message;
}

inline ChatMessage tool_says(std::string text, std::string answers, bool failed = false) {
  ChatMessage message;
  message.speaker = Speaker::tool;
  message.text = std::move(text);
  message.answers = std::move(answers);
  message.failed = failed;
  return message;
}

inline ChatRequest small_request() {
  ChatRequest request;
  request.model = "some-model";
  request.system = "You write kernels.";
  request.messages = {user_says("Faster, please.")};
  request.max_output = 100;
  return request;
}

// Two calls, one with arguments that are no JSON, and what the tool said to each.
inline ChatRequest request_with_tools() {
  ChatRequest request = small_request();
  request.tools = {{"profile", "Shows a profile.", R"({"type":"object","properties":{}})"}};
  request.messages.push_back(
      assistant_says("", {{"c1", "profile", "{}"}, {"c2", "profile", "{\"le"}}));
  request.messages.push_back(tool_says("dram", "c1"));
  request.messages.push_back(tool_says("no such level", "c2", true));
  return request;
}

}  // namespace kernelpro
