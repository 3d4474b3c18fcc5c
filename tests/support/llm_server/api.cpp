#include "support/llm_server/api.hpp"

#include <chrono>
#include <memory>
#include <sstream>
#include <thread>

namespace kernelpro::llm_server {

std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> found;
  for (const char c : text) {
    if (found.empty() || (c != ' ' && found.back().ends_with(' '))) {
      found.emplace_back();
    }
    found.back() += c;
  }
  return found;
}

std::int64_t count_words(const std::string& text) {
  return static_cast<std::int64_t>(words(text).size());
}

bool PromptCache::touch(const std::string& text) {
  const std::scoped_lock lock(mutex_);
  return !texts_.insert(text).second;
}

namespace {

void cut_at_stop(Said& said, const std::vector<std::string>& stops) {
  for (const std::string& stop : stops) {
    const std::size_t found = said.text.find(stop);
    if (found != std::string::npos) {
      said.text.resize(found);
      said.stopped_by = stop;
    }
  }
}

void cut_at_limit(Said& said, std::int64_t max_tokens) {
  const std::vector<std::string> all = words(said.text);
  if (max_tokens > 0 && static_cast<std::int64_t>(all.size()) > max_tokens) {
    said.text.clear();
    for (std::int64_t i = 0; i < max_tokens; ++i) {
      said.text += all[static_cast<std::size_t>(i)];
    }
    said.cut = true;
    said.stopped_by.clear();
  }
  said.tokens = count_words(said.text);
}

}  // namespace

Said say(const Talk& talk) {
  Said said;
  if (talk.has_result) {
    said.text = "The tool said: " + talk.tool_result;
  } else if (talk.last_text.find("use the tool") != std::string::npos && !talk.tool.empty()) {
    said.text = "I ask the tool. ";
    said.calls_tool = true;
  } else if (talk.last_text.find("refuse") != std::string::npos) {
    said.refuses = true;
  } else {
    said.text = "You said: " + talk.last_text;
  }
  cut_at_stop(said, talk.stop);
  cut_at_limit(said, talk.max_tokens);
  return said;
}

Handler api_handler(std::string key, int delay_ms) {
  auto cache = std::make_shared<PromptCache>();
  return [key = std::move(key), delay_ms, cache](const Seen& seen, Wire& wire) {
    Reply reply;
    if (seen.target == "/v1/messages") {
      reply = anthropic_reply(seen, key, *cache);
    } else if (seen.target == "/v1/chat/completions") {
      reply = openai_reply(seen, key);
    } else {
      wire.answer(404, "text/html", "<html><h1>Not Found</h1></html>\n");
      return;
    }
    if (delay_ms > 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms));
    }
    if (!reply.content_type.starts_with("text/event-stream")) {
      wire.answer(reply.status, reply.content_type, reply.pieces.at(0), reply.headers);
      return;
    }
    wire.begin(reply.status, reply.content_type, reply.headers);
    for (const std::string& piece : reply.pieces) {
      wire.chunk(piece);
    }
    wire.end();
  };
}

}  // namespace kernelpro::llm_server
