// Bytes of a client as requests of HTTP/1.1, none of them without a bound.
//
// Strict where others could read the same bytes as another request: no folded headers, no blanks
// before a colon, one Content-Length or chunks and never both.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "coordinator/http/message.hpp"

namespace kernelpro::http {

struct Limits {
  std::size_t head = std::size_t{32} << 10U;
  std::size_t body = std::size_t{8} << 20U;
};

// Why a request cannot be read. Nothing behind it can: the connection is closed.
struct Refusal {
  int status = 400;
  std::string why;
};

class Parser {
 public:
  explicit Parser(Limits limits) : limits_(limits) {}

  void add(std::string_view bytes);

  // The next whole request; nothing: more bytes are needed, or `refusal` says why there is none.
  [[nodiscard]] std::optional<Request> next();
  [[nodiscard]] const std::optional<Refusal>& refusal() const { return refusal_; }

  // The client waits for a word before it sends the body. True once.
  [[nodiscard]] bool take_expects();
  // Some of a request has come, and not all.
  [[nodiscard]] bool within() const { return state_ != State::head || !rest().empty(); }
  [[nodiscard]] std::size_t held_bytes() const { return rest().size() + request_.body.size(); }

 private:
  enum class State { head, body, chunk_size, chunk, chunk_end, trailers };

  // Each does one step; false: it needs more bytes, or has refused.
  bool step();
  bool read_head();
  bool read_body();
  bool read_chunk_size();
  bool read_chunk();
  bool read_chunk_end();
  bool read_trailers();

  bool take_request_line(std::string_view text);
  bool take_target(std::string_view target);
  bool take_header(std::string_view text);
  bool take_framing();
  // What was not read yet. Only `add` moves it, so that many small parts cost no more than few.
  [[nodiscard]] std::string_view rest() const { return std::string_view(buffer_).substr(read_); }
  // Takes that much of the rest, or all of it, for the body.
  void take_for_body();
  // A line without its end, taken off the rest.
  std::optional<std::string> line(std::size_t most);
  bool refuse(int status, std::string why);

  Limits limits_;
  std::string buffer_;
  std::size_t read_ = 0;  // of the buffer
  State state_ = State::head;
  Request request_;
  std::size_t left_ = 0;     // of the body or the chunk
  std::size_t trailed_ = 0;  // bytes of trailers
  bool whole_ = false;
  bool expects_ = false;
  std::optional<Refusal> refusal_;
};

// "%2e" as "."; nothing where it is malformed, or has a NUL in it.
[[nodiscard]] std::optional<std::string> decoded(std::string_view text, bool plus_is_blank);

}  // namespace kernelpro::http
