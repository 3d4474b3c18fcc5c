// The runner's end of the control socket.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "common/base/runner_protocol.hpp"

namespace kernelpro::runner {

struct Received {
  bool ok = false;           // false: the worker is gone
  std::size_t fd_count = 0;  // how many entries of `fds` came along
  std::array<int, max_descriptors> fds{};

  // Entry `index`, or -1 when fewer came.
  [[nodiscard]] int fd(std::size_t index) const { return index < fd_count ? fds[index] : -1; }
};

// Blocks for the next request.
[[nodiscard]] Received receive_request(Request& request);

// Waits, without sleeping, for the word that lets the calls of request `sequence` begin. False when
// the worker is gone or sent anything else.
[[nodiscard]] bool wait_for_word(std::uint32_t sequence);

// Sends a reply, with one descriptor when `fd` is not negative. Async-signal-safe.
bool send_reply(const Reply& reply, int fd = -1);

// Says where an address lies among the buffers; called from a signal handler.
using AddressDescriber = void (*)(std::uint64_t address, Reply& reply);
void describe_faults_with(AddressDescriber describer);

// Reports a fatal signal to the worker before the process dies of it. Handlers run on their own
// stack, so that a stack overflow is reported too.
void report_fatal_signals();

}  // namespace kernelpro::runner
