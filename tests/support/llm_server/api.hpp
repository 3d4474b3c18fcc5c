// Answers as the two providers give them, and refuses what they refuse. There is no model: the
// answer follows from the request.
//
// To a text it says "You said: TEXT". A text with "use the tool" calls the first tool, whose result
// it then repeats; one with "refuse" is refused. A word is a token: an answer ends at the limit of
// tokens, and at a stop text. These models fail: no-such-model, limited-model (429),
// overloaded-model (529 or 503), broke-model (no quota), failing-model (500).
#pragma once

#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "support/llm_server/http_server.hpp"

namespace kernelpro::llm_server {

// What goes back: one piece, or many of a stream.
struct Reply {
  int status = 200;
  std::string content_type = "application/json";
  std::vector<std::string> headers;
  std::vector<std::string> pieces;
};

// What both providers know of a request when it is a proper one.
struct Talk {
  std::string model;
  std::string last_text;    // of the user
  std::string tool_result;  // where the last message has one
  bool has_result = false;
  std::string tool;  // the first that is offered
  std::vector<std::string> stop;
  std::int64_t max_tokens = 0;
  std::int64_t input_tokens = 0;
};

// What the "model" says to it.
struct Said {
  std::string text;
  bool calls_tool = false;
  bool refuses = false;
  bool cut = false;
  std::string stopped_by;
  std::int64_t tokens = 0;

  // The call is in the answer: the limit did not come before it.
  [[nodiscard]] bool has_call() const { return calls_tool && !cut; }
};

[[nodiscard]] Said say(const Talk& talk);
[[nodiscard]] std::int64_t count_words(const std::string& text);
// The text in pieces of a word each; together they are the text.
[[nodiscard]] std::vector<std::string> words(const std::string& text);

// Texts that were put into the cache.
class PromptCache {
 public:
  // True when it was there already.
  bool touch(const std::string& text);

 private:
  std::mutex mutex_;
  std::set<std::string> texts_;
};

[[nodiscard]] Reply anthropic_reply(const Seen& seen, const std::string& key, PromptCache& cache);
[[nodiscard]] Reply openai_reply(const Seen& seen, const std::string& key);

// Both, by their paths: /v1/messages and /v1/chat/completions. The answer comes after `delay_ms`.
[[nodiscard]] Handler api_handler(std::string key, int delay_ms = 0);

}  // namespace kernelpro::llm_server
