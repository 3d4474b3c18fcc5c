#include "common/base/stop_signals.hpp"

#include <pthread.h>

#include <initializer_list>

namespace kernelpro {

sigset_t block_stop_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1}) {
    sigaddset(&signals, signal);
  }
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

}  // namespace kernelpro
