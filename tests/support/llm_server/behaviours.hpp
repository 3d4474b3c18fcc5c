// What a provider may do to its clients.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/llm_server/http_server.hpp"

namespace kernelpro::llm_server {

inline Handler answers(int status, std::string content_type, std::string body,
                       std::vector<std::string> headers = {}) {
  return [=](const Seen&, Wire& wire) { wire.answer(status, content_type, body, headers); };
}

inline Handler streams(std::vector<std::string> pieces) {
  return [pieces = std::move(pieces)](const Seen&, Wire& wire) {
    wire.begin(200, "text/event-stream");
    for (const std::string& piece : pieces) {
      wire.chunk(piece);
    }
    wire.end();
  };
}

// The connection ends after the pieces, without the end that HTTP wants.
inline Handler cuts_after(std::vector<std::string> pieces, bool reset = false) {
  return [=](const Seen&, Wire& wire) {
    wire.begin(200, "text/event-stream");
    for (const std::string& piece : pieces) {
      wire.chunk(piece);
    }
    if (reset) {
      wire.cut();
    }
  };
}

// Nothing comes after the pieces, and the connection stays.
inline Handler hangs_after(std::vector<std::string> pieces) {
  return [pieces = std::move(pieces)](const Seen&, Wire& wire) {
    if (!pieces.empty()) {
      wire.begin(200, "text/event-stream");
    }
    for (const std::string& piece : pieces) {
      wire.chunk(piece);
    }
    wire.hang();
  };
}

// The whole stream, a byte at a time.
inline Handler dribbles(std::vector<std::string> pieces) {
  return [pieces = std::move(pieces)](const Seen&, Wire& wire) {
    wire.begin(200, "text/event-stream");
    for (const std::string& piece : pieces) {
      for (const char byte : piece) {
        wire.chunk(std::string_view(&byte, 1));
      }
    }
    wire.end();
  };
}

inline Handler after(int delay_ms, Handler then) {
  return [delay_ms, then = std::move(then)](const Seen& seen, Wire& wire) {
    std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms));
    then(seen, wire);
  };
}

// The first request gets the first, and so on; the last stays.
inline Handler in_turn(std::vector<Handler> handlers) {
  auto next = std::make_shared<std::atomic<std::size_t>>(0);
  return [next, handlers = std::move(handlers)](const Seen& seen, Wire& wire) {
    handlers[std::min(next->fetch_add(1), handlers.size() - 1)](seen, wire);
  };
}

}  // namespace kernelpro::llm_server
