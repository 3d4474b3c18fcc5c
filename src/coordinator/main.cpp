// kernelpro: the command line.
#include <pthread.h>

#include <csignal>
#include <cstdio>
#include <stop_token>
#include <thread>

#include "coordinator/cli/commands.hpp"

namespace {

// Ctrl-C asks for a clean end; a second one ends at once.
std::jthread watch_signals(std::stop_source& source) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
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

}  // namespace

int main(int argc, char** argv) {
  const kernelpro::ParsedOptions parsed = kernelpro::parse_options(argc, argv);
  if (parsed.finished) {
    return parsed.exit_code;
  }
  std::signal(SIGPIPE, SIG_IGN);
  std::stop_source source;
  std::jthread watcher = watch_signals(source);
  const int exit_code = kernelpro::run_command_line(parsed.options, source.get_token());
  std::fflush(stdout);
  pthread_kill(watcher.native_handle(), SIGUSR1);
  return exit_code;
}
