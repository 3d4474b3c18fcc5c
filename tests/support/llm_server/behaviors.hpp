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

inline Handler streams(std::vector<std::string> pieces,
                       std::string content_type = "text/event-stream",
                       std::vector<std::string> headers = {}) {
  return [=](const Seen&, Wire& wire) {
    wire.begin(200, content_type, headers);
    for (const std::string& piece : pieces) {
      wire.chunk(piece);
    }
    wire.end();
  };
}

// With something said behind the body, as HTTP allows.
inline Handler streams_with_trailers(std::vector<std::string> pieces, std::string content_type,
                                     std::vector<std::string> trailers) {
  return [=](const Seen&, Wire& wire) {
    wire.begin(200, content_type, {"Trailer: X-Checksum"});
    for (const std::string& piece : pieces) {
      wire.chunk(piece);
    }
    wire.end(trailers);
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

// Says this again and again after the pieces, until nobody listens.
inline Handler chatters_after(std::vector<std::string> pieces, std::string chatter) {
  return [=](const Seen&, Wire& wire) {
    wire.begin(200, "text/event-stream");
    for (const std::string& piece : pieces) {
      wire.chunk(piece);
    }
    while (!wire.gone()) {
      wire.chunk(chatter);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  };
}

// A stream with so long a pause before its second part.
inline Handler pauses(std::vector<std::string> first, int pause_ms,
                      std::vector<std::string> second) {
  return [=](const Seen&, Wire& wire) {
    wire.begin(200, "text/event-stream");
    for (const std::string& piece : first) {
      wire.chunk(piece);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(pause_ms));
    for (const std::string& piece : second) {
      wire.chunk(piece);
    }
    wire.end();
  };
}

// A request with this text in its body gets a refusal.
inline Handler refuses(std::string text, Handler refusal, Handler otherwise) {
  return [=](const Seen& seen, Wire& wire) {
    const bool has = seen.body.find(text) != std::string::npos;
    (has ? refusal : otherwise)(seen, wire);
  };
}

// The whole stream, a byte at a time.
inline Handler dribbles(std::vector<std::string> pieces,
                        std::string content_type = "text/event-stream") {
  return [=](const Seen&, Wire& wire) {
    wire.begin(200, content_type);
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
