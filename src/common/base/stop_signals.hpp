// The signals that ask a program of ours to stop.
#pragma once

#include <csignal>

namespace kernelpro {

// Blocks SIGINT, SIGTERM and SIGUSR1 in this thread and those it starts, and returns them for a
// thread that waits for them: nothing safe can be done in a handler. SIGUSR1 is how a program tells
// its own waiting thread that there is nothing left to wait for.
[[nodiscard]] sigset_t block_stop_signals();

}  // namespace kernelpro
