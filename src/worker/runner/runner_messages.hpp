// The messages of runner_protocol.hpp, sent and received by the worker.
#pragma once

#include <vector>

#include "common/base/runner_protocol.hpp"
#include "common/base/unique_fd.hpp"

namespace kernelpro {

// With `fds` beside it. False when the other end is gone.
[[nodiscard]] bool send_request(int socket, const runner::Request& request,
                                const std::vector<int>& fds);

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
