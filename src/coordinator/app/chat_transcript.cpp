#include "coordinator/app/chat_transcript.hpp"

#include <nlohmann/json.hpp>
#include <set>

#include "common/base/hash.hpp"
#include "common/wire/json.hpp"
#include "coordinator/app/reward.hpp"
#include "coordinator/store/store.hpp"

namespace kernelpro {

namespace {

// What a message says: a text, or blocks of which some are texts. Others stand as their JSON.
std::string said_in(const nlohmann::json& content) {
  if (content.is_string()) {
    return content.get<std::string>();
  }
  std::string text;
  for (const nlohmann::json& block : content.is_array() ? content : nlohmann::json::array()) {
    text += (text.empty() ? "" : "\n");
    text += block.contains("text") && block["text"].is_string() ? block["text"].get<std::string>()
                                                                : block.dump();
  }
  return text;
}

// Both forms of providers: a text for the system apart, or as the first of the messages.
nlohmann::json messages_of(const nlohmann::json& request) {
  nlohmann::json messages = nlohmann::json::array();
  if (request.contains("system")) {
    messages.push_back({{"role", "system"}, {"content", said_in(request["system"])}});
  }
  for (const nlohmann::json& message : request.value("messages", nlohmann::json::array())) {
    nlohmann::json one = {{"role", message.value("role", "user")},
                          {"content", said_in(message.value("content", nlohmann::json("")))}};
    if (message.contains("tool_calls")) {
      one["tool_calls"] = message["tool_calls"];
    }
    messages.push_back(std::move(one));
  }
  return messages;
}

nlohmann::json answer_of(const nlohmann::json& answer) {
  nlohmann::json message = {{"role", "assistant"}, {"content", answer.value("text", "")}};
  if (const nlohmann::json calls = answer.value("calls", nlohmann::json::array()); !calls.empty()) {
    message["tool_calls"] = calls;
  }
  return message;
}

Comparison comparison_of(const Node& node) {
  if (node.speedup <= 0) {
    return Comparison::not_timed;
  }
  if (node.speedup_interval.low > 1) {
    return Comparison::faster;
  }
  return node.speedup_interval.high < 1 ? Comparison::slower : Comparison::same;
}

// What the run keeps of the verdict, against the baseline.
Verdict verdict_of(const Node& node) {
  Verdict verdict;
  verdict.outcome = node.outcome;
  verdict.verified = node.verified;
  verdict.suspect = node.suspect;
  verdict.precision = node.precision;
  verdict.timing.speedup = node.speedup;
  verdict.timing.speedup_interval = node.speedup_interval;
  verdict.timing.comparison = comparison_of(node);
  return verdict;
}

bool is_sure(const Node& node) {
  return node.state == NodeState::judged && node.outcome == Outcome::passed && node.verified &&
         !node.suspect && node.precision == "contract";
}

nlohmann::json line_of_call(const LlmCall& call, const Node& node, const std::string& run,
                            nlohmann::json messages) {
  return {{"messages", std::move(messages)},
          {"run", run},
          {"node", node.id},
          {"role", name_of(call.role)},
          {"turn", call.turn},
          {"model", call.answered_by.empty() ? call.model : call.answered_by},
          {"outcome", name_of(node.outcome)},
          {"speedup",
           node.outcome == Outcome::passed ? nlohmann::json(node.speedup) : nlohmann::json()},
          {"suspect", node.suspect},
          {"verified", node.verified},
          {"reward", to_json(reward_of(verdict_of(node), true))}};
}

}  // namespace

Result<std::string> chat_transcript(const std::filesystem::path& store, const std::string& run,
                                    const ChatFilters& filters) {
  KP_LET(const Store open, Store::open(store, StoreMode::read));
  KP_LET(const std::vector<LlmCall> calls, open.load_llm_calls(run));
  KP_LET(const std::vector<Node> nodes, open.load_nodes(run));
  std::string text;
  std::set<std::string> seen;
  for (const LlmCall& call : calls) {
    const bool known = call.node >= 0 && call.node < std::ssize(nodes);
    const Result<nlohmann::json> request = parse_json(call.request);
    const Result<nlohmann::json> answer = parse_json(call.answer);
    if (call.state != CallState::answered || !known || !request || !answer) {
      continue;
    }
    const Node& node = nodes[static_cast<std::size_t>(call.node)];
    nlohmann::json messages = messages_of(*request);
    messages.push_back(answer_of(*answer));
    const bool repeated = node.same_as != no_node || !seen.insert(sha256(messages.dump())).second;
    if ((filters.verified && !is_sure(node)) || (filters.unique && repeated)) {
      continue;
    }
    text += line_of_call(call, node, run, std::move(messages))
                .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) +
            "\n";
  }
  if (text.empty()) {
    return make_error(ErrorKind::bad_input,
                      "no conversation of it passes the filters: there is nothing to write",
                      "run " + run);
  }
  return text;
}

}  // namespace kernelpro
