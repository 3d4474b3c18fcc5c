#include "worker/runner/wait_bell.hpp"

#include <unistd.h>

#include <csignal>
#include <mutex>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

namespace kernelpro {

namespace {

constexpr int bell_signal = SIGALRM;
constexpr itimerspec ringing{.it_interval = {.tv_sec = 0, .tv_nsec = 20'000'000},
                             .it_value = {.tv_sec = 0, .tv_nsec = 20'000'000}};
constexpr itimerspec silent{};

// A handler that does nothing, without SA_RESTART: all it is for is EINTR.
void install_handler() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action{};
    action.sa_handler = [](int) {};
    sigaction(bell_signal, &action, nullptr);
  });
}

// One timer a thread, made at its first wait.
class ThreadTimer {
 public:
  ThreadTimer() {
    install_handler();
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = bell_signal;
    event.sigev_notify_thread_id = gettid();
    made_ = timer_create(CLOCK_MONOTONIC, &event, &timer_) == 0;
  }
  ~ThreadTimer() {
    if (made_) {
      timer_delete(timer_);
    }
  }
  ThreadTimer(const ThreadTimer&) = delete;
  ThreadTimer& operator=(const ThreadTimer&) = delete;

  bool set(const itimerspec& when) const {
    return made_ && timer_settime(timer_, 0, &when, nullptr) == 0;
  }

 private:
  timer_t timer_{};
  bool made_ = false;
};

ThreadTimer& timer_of_this_thread() {
  thread_local ThreadTimer timer;
  return timer;
}

}  // namespace

WaitBell::WaitBell() : rings_(timer_of_this_thread().set(ringing)) {}

WaitBell::~WaitBell() {
  timer_of_this_thread().set(silent);
}

}  // namespace kernelpro
