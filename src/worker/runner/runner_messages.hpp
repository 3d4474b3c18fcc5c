// The messages of runner_protocol.hpp, sent and received by the worker.
#pragma once

#include <vector>

#include "common/base/runner_protocol.hpp"
#include "common/base/unique_fd.hpp"

namespace kernelpro {

enum class Sending {
  sent,
  full,  // earlier messages lie there unread: an honest runner takes each before it answers
  gone,  // the other end is closed
};

// With `fds` beside it, without waiting.
[[nodiscard]] Sending send_request(int socket, const runner::Request& request,
                                   const std::vector<int>& fds);

// The word that lets the calls of a `go` begin.
[[nodiscard]] Sending send_word(int socket, std::uint32_t sequence);

struct Incoming {
  bool waiting = false;  // a message was there
  bool whole = false;    // and had the size of a reply
  bool closed = false;   // the other end is gone, and nothing is left to read
  runner::Reply reply{};
  UniqueFd fd;
};

// What waits there, without waiting for it.
[[nodiscard]] Incoming receive_reply(int socket);

}  // namespace kernelpro
