// What providers that are asked over HTTP do differently.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/llm/chat.hpp"
#include "coordinator/llm/failure.hpp"
#include "coordinator/llm/sse.hpp"

namespace kernelpro {

// Puts one streamed answer together.
class StreamReader {
 public:
  StreamReader() = default;
  StreamReader(const StreamReader&) = delete;
  StreamReader& operator=(const StreamReader&) = delete;
  virtual ~StreamReader() = default;

  // A failure that is reported within the stream ends it; so does an event that cannot be read.
  [[nodiscard]] virtual std::optional<ChatFailure> take(const SseEvent& event) = 0;
  // Text or the call of a tool has come.
  [[nodiscard]] virtual bool begun() const = 0;
  // The provider says that nothing more comes.
  [[nodiscard]] virtual bool ended() const = 0;
  // Nothing while a part of the answer itself is missing.
  [[nodiscard]] virtual std::optional<ChatAnswer> answer() const = 0;
};

class Dialect {
 public:
  Dialect() = default;
  Dialect(const Dialect&) = delete;
  Dialect& operator=(const Dialect&) = delete;
  virtual ~Dialect() = default;

  [[nodiscard]] virtual std::string url() const = 0;
  [[nodiscard]] virtual std::string body(const ChatRequest& request) const = 0;
  // Beside the content type; `key` may be empty.
  [[nodiscard]] virtual std::vector<std::string> headers(const std::string& key) const = 0;
  [[nodiscard]] virtual std::unique_ptr<StreamReader> read_stream(
      Asked asked, const TextListener& listener) const = 0;
  // An answer that came in one piece. The JSON is not of that form: an error.
  [[nodiscard]] virtual Result<ChatAnswer> read_whole(const nlohmann::json& body) const = 0;
};

}  // namespace kernelpro
