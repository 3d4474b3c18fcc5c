// kernelpro: the command line.
#include <pthread.h>

#include <csignal>
#include <cstdio>
#include <stop_token>
#include <system_error>
#include <thread>
#include <utility>

#include "common/base/stop_signals.hpp"
#include "coordinator/cli/commands.hpp"
#include "coordinator/options/options.hpp"

namespace {

// Ctrl-C asks for a clean end; a second one ends at once.
std::jthread watch_signals(std::stop_source& source) {
  const sigset_t signals = kernelpro::block_stop_signals();
  return std::jthread([signals, &source] {
    int got = 0;
    sigwait(&signals, &got);
    source.request_stop();
    if (got != SIGUSR1) {
      sigwait(&signals, &got);
      if (got != SIGUSR1) {
        std::_Exit(kernelpro::exit_interrupted);
      }
    }
  });
}

// Who reads our output may have seen enough (`| head`): fmt throws then, and we go as any filter
// does.
int run_for_reader(const kernelpro::ParsedOptions& parsed, std::stop_token stop) {
  constexpr int reader_left = 128 + SIGPIPE;
  try {
    return kernelpro::run_options(parsed, std::move(stop));
  } catch (const std::system_error& error) {
    if (error.code() != std::errc::broken_pipe) {
      throw;
    }
    return reader_left;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const kernelpro::ParsedOptions parsed = kernelpro::parse_options(argc, argv);
  if (parsed.finished) {
    return parsed.exit_code;
  }
  std::signal(SIGPIPE, SIG_IGN);
  std::stop_source source;
  std::jthread watcher = watch_signals(source);
  const int exit_code = run_for_reader(parsed, source.get_token());
  std::fflush(stdout);
  pthread_kill(watcher.native_handle(), SIGUSR1);
  return exit_code;
}
