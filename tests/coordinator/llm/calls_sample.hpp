// Calls as a run keeps them, for tests of whatever keeps them elsewhere.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "common/model/llm.hpp"
#include "coordinator/llm/caller.hpp"
#include "coordinator/llm/chat_json.hpp"
#include "coordinator/llm/openai_form.hpp"

namespace kernelpro::testing {

inline ChatAnswer sample_answer(const std::string& text) {
  ChatAnswer answer;
  answer.text = text;
  answer.calls = {{"call_1", "look_at_profile", "{\"about\": nonsense"}};
  answer.stop = StopReason::tool_calls;
  answer.usage = {.input = 100, .cached = 30, .cache_written = 20, .output = 7};
  answer.usage_known = true;
  answer.model = "who-answered";
  return answer;
}

// To `request`, with no field at its default.
inline LlmCall sample_call(const CallName& name, const ChatRequest& request,
                           const std::string& text) {
  LlmCall call;
  call.id = name.id();
  call.node = name.node;
  call.role = name.role;
  call.turn = name.turn;
  call.state = CallState::answered;
  call.provider = "openai";
  call.model = request.model;
  call.answered_by = "who-answered";
  call.request = openai_body(request, true).dump();
  call.answer = to_json(sample_answer(text)).dump();
  call.started = "2026-03-01T12:00:00Z";
  call.latency_ns = 123'456'789'012;
  call.usage = {.input = 100, .cached = 30, .cache_written = 20, .output = 7};
  call.cost = 987'654'321'098;
  call.priced = true;
  return call;
}

}  // namespace kernelpro::testing
