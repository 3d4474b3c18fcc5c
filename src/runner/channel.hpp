// The runner's end of the control socket.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "common/base/runner_protocol.hpp"

namespace kernelpro::runner {

inline constexpr std::size_t max_passed_fds = 3;

struct Received {
  bool ok = false;  // false: the worker is gone
  std::array<int, max_passed_fds> fds{-1, -1, -1};
};

// Blocks for the next request.
[[nodiscard]] Received receive_request(Request& request);

// Sends a reply, with one descriptor when `fd` is not negative. Async-signal-safe.
bool send_reply(const Reply& reply, int fd = -1);

// Says where an address lies among the buffers; called from a signal handler.
using AddressDescriber = void (*)(std::uint64_t address, Reply& reply);
void describe_faults_with(AddressDescriber describer);

// Reports a fatal signal to the worker before the process dies of it. Handlers run on their own
// stack, so that a stack overflow is reported too.
void report_fatal_signals();

}  // namespace kernelpro::runner
