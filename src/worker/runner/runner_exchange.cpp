#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "common/base/clock.hpp"
#include "common/base/fair_deadline.hpp"
#include "common/base/stolen_time.hpp"
#include "worker/runner/runner_messages.hpp"
#include "worker/runner/runner_process.hpp"
#include "worker/runner/wait_bell.hpp"

namespace kernelpro {

namespace {

namespace fs = std::filesystem;

// Nanoseconds a task spent ready to run but without a processor; 0 where the kernel does not tell.
std::int64_t run_delay_ns(const std::string& task) {
  std::ifstream file("/proc/" + task + "/schedstat");
  std::int64_t running = 0;
  std::int64_t waiting = 0;
  return file >> running >> waiting ? waiting : 0;
}

}  // namespace

bool RunnerProcess::send(runner::Request& request, const std::vector<int>& fds, Exchange& out) {
  if (const auto settings = std::exchange(ungreeted_, std::nullopt)) {
    if (const Status greeted = greet(*settings); !greeted) {
      printed_ = greeted.error().text();
    }
  }
  if (!alive()) {
    out = end_.value_or(out);
    return false;
  }
  if (const Incoming early = receive_reply(socket_.get()); early.waiting) {
    kill(pid_, SIGCONT);
    take_unexpected(early, out);
    return false;
  }
  request.sequence = ++sequence_;
  switch (send_request(socket_.get(), request, fds)) {
    case Sending::sent:
      return true;
    case Sending::full:
      out.end = ExchangeEnd::forged;
      kill_process();
      return false;
    case Sending::gone:
      break;
  }
  reap(out);
  return false;
}

Exchange RunnerProcess::exchange(runner::Request& request, const std::vector<int>& fds,
                                 std::int64_t timeout_ms) {
  Exchange out;
  if (!send(request, fds, out)) {
    return out;
  }
  note_stolen();
  const std::int64_t delay_before = delay_ns();
  const std::int64_t others_before = delay_of_others_ns();
  const std::int64_t used_before = used_ns();
  const std::int64_t our_delay_before = run_delay_ns("thread-self");
  const std::int64_t start = now_ns();
  kill(pid_, SIGCONT);
  wait_for_reply(out, timeout_ms);
  if (out.end == ExchangeEnd::replied && !stop_process(out)) {
    return out;
  }
  out.wall_ns = now_ns() - start;
  out.delay_ns = alive() ? delay_ns() - delay_before : 0;
  out.others_delay_ns =
      alive() ? std::max<std::int64_t>(delay_of_others_ns() - others_before, 0) : 0;
  out.used_ns = alive() ? used_ns() - used_before : 0;
  out.our_delay_ns = run_delay_ns("thread-self") - our_delay_before;
  end_if_crowded(out);
  return out;
}

Exchange RunnerProcess::hand_over(runner::Request& request, const HandOver& around,
                                  std::int64_t timeout_ms) {
  Exchange out;
  if (!send(request, {}, out)) {
    return out;
  }
  note_stolen();
  kill(pid_, SIGCONT);
  wait_for_reply(out, timeout_ms, runner::ReplyKind::ready, around.late);
  if (out.end != ExchangeEnd::replied) {
    return out;
  }
  const std::int64_t delay_before = delay_ns();
  const std::int64_t our_delay_before = run_delay_ns("thread-self");
  const std::int64_t start = now_ns();
  around.before();
  if (send_word(socket_.get(), sequence_) == Sending::full) {
    out.end = ExchangeEnd::forged;
    kill_process();
    return out;
  }
  wait_for_reply(out, timeout_ms);
  if (out.end != ExchangeEnd::replied) {
    return out;
  }
  // It stops while we wait for the device: what it does after its reply is on the clock.
  kill(pid_, SIGSTOP);
  around.after();
  out.wall_ns = now_ns() - start;
  out.our_delay_ns = run_delay_ns("thread-self") - our_delay_before;
  if (wait_until_stopped(out)) {
    out.delay_ns = delay_ns() - delay_before;
  }
  return out;
}

// Who spins has processors of its own, and would be kept from them for the longer the more there
// are.
void RunnerProcess::note_stolen() {
  stolen_before_ = spin_ ? -1 : stolen_ns();
}

std::int64_t RunnerProcess::used_ns() const {
  clockid_t clock{};
  timespec used{};
  if (clock_getcpuclockid(pid_, &clock) != 0 || clock_gettime(clock, &used) != 0) {
    return 0;
  }
  return used.tv_sec * 1'000'000'000LL + used.tv_nsec;
}

std::int64_t RunnerProcess::delay_ns() const {
  return run_delay_ns(std::to_string(pid_));
}

std::int64_t RunnerProcess::resident_bytes() const {
  std::ifstream file("/proc/" + std::to_string(pid_) + "/statm");
  std::int64_t whole = 0;
  std::int64_t resident = 0;
  return file >> whole >> resident ? resident * sysconf(_SC_PAGESIZE) : 0;
}

std::int64_t RunnerProcess::delay_of_others_ns() const {
  const std::string main = std::to_string(pid_);
  std::error_code ended;
  std::int64_t sum = 0;
  for (fs::directory_iterator at("/proc/" + main + "/task", ended), end; !ended && at != end;
       at.increment(ended)) {
    const std::string thread = at->path().filename();
    sum += thread == main ? 0 : run_delay_ns(main + "/task/" + thread);
  }
  return sum;
}

void RunnerProcess::wait_for_reply(Exchange& out, std::int64_t timeout_ms, runner::ReplyKind wanted,
                                   const std::function<void()>& late) {
  const std::int64_t start = now_ns();
  FairDeadline deadline(timeout_ms, stolen_before_);
  bool told = !late;
  while (!deadline.passed()) {
    if (!told && now_ns() > start + late_ms * ns_per_ms) {
      late();
      told = true;
    }
    if (stop_.stop_requested()) {
      out.end = ExchangeEnd::stopped;
      kill_process();
      return;
    }
    if (!poll_once(poll_slice_ms)) {
      if (end_if_crowded(out)) {
        return;
      }
      siginfo_t info{};
      if (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT) ==
              0 &&
          info.si_pid == pid_ && info.si_code == CLD_STOPPED) {
        out.stopped_itself = true;
        break;
      }
      if (info.si_pid == pid_) {
        reap(out);
        return;
      }
      continue;
    }
    const Incoming incoming = receive_reply(socket_.get());
    if (incoming.closed) {
      reap(out);
      return;
    }
    if (!out.fault && incoming.whole && incoming.reply.kind == runner::ReplyKind::fault) {
      out.fault = incoming.reply;
      continue;
    }
    if (out.fault || !incoming.whole || incoming.reply.kind != wanted ||
        incoming.reply.sequence != sequence_ || incoming.fd.valid()) {
      take_unexpected(incoming, out);
      return;
    }
    out.reply = incoming.reply;
    out.end = ExchangeEnd::replied;
    return;
  }
  out.end = ExchangeEnd::timed_out;
  kill_process();
}

// A thread that the candidate left may fault at any time, while nothing was asked or while the main
// thread answers: who reports a fatal signal and dies of it has crashed. Nobody goes on after such
// a report, and nothing else is sent unasked, out of turn or with a descriptor.
void RunnerProcess::take_unexpected(const Incoming& incoming, Exchange& out) {
  if (!out.fault && incoming.whole && incoming.reply.kind == runner::ReplyKind::fault) {
    out.fault = incoming.reply;
  }
  if (out.fault && ends_by_itself()) {
    reap(out);
    return;
  }
  out.end = ExchangeEnd::forged;
  kill_process();
}

bool RunnerProcess::end_if_crowded(Exchange& out) {
  constexpr nlink_t besides = 2;  // every folder has these, and one more for each thread
  struct stat tasks{};
  const std::string folder = "/proc/" + std::to_string(pid_) + "/task";
  if (!alive() || stat(folder.c_str(), &tasks) != 0 || tasks.st_nlink <= most_threads + besides) {
    return false;
  }
  out.end = ExchangeEnd::crowded;
  kill_process();
  return true;
}

bool RunnerProcess::poll_once(int timeout_ms) {
  const std::int64_t deadline = now_ns() + static_cast<std::int64_t>(timeout_ms) * 1'000'000;
  for (;;) {
    pollfd fds[] = {
        {socket_.get(), POLLIN, 0}, {watch_.fd(), POLLIN, 0}, {pidfd_.get(), POLLIN, 0}};
    const std::int64_t left = (deadline - now_ns()) / 1'000'000;
    const int ready = left < 0 ? 0 : poll(fds, 3, spin_ ? 0 : static_cast<int>(left));
    if (ready == 0 && spin_ && left >= 0) {
      continue;
    }
    if (ready <= 0) {
      return false;
    }
    // One call that waits there is looked at before a reply is taken: of a process that answers
    // fast none would ever be.
    if ((fds[1].revents & POLLIN) != 0) {
      watch_.answer();
    }
    if ((fds[0].revents & (POLLIN | POLLHUP)) != 0) {
      return true;
    }
    if (fds[2].revents != 0 || (fds[1].revents & ~POLLIN) != 0) {
      return false;
    }
  }
}

bool RunnerProcess::stop_process(Exchange& out) {
  kill(pid_, SIGSTOP);
  return wait_until_stopped(out);
}

bool RunnerProcess::wait_until_stopped(Exchange& out) {
  FairDeadline deadline(stop_timeout_ms_, stolen_before_);
  const WaitBell bell;
  const int options = WSTOPPED | WEXITED | WNOWAIT | (spin_ || !bell.rings() ? WNOHANG : 0);
  siginfo_t info{};
  while (info.si_pid == 0) {
    if (waitid(P_PID, static_cast<id_t>(pid_), &info, options) != 0 && errno != EINTR) {
      break;
    }
    if (info.si_pid == 0 && (stop_.stop_requested() || deadline.passed())) {
      out.end = stop_.stop_requested() ? ExchangeEnd::stopped : ExchangeEnd::timed_out;
      out.unstoppable = true;
      kill_process();
      return false;
    }
  }
  if (info.si_code == CLD_STOPPED) {
    waitid(P_PID, static_cast<id_t>(pid_), &info, WSTOPPED | WNOHANG);
    return true;
  }
  reap(out);
  return false;
}

void RunnerProcess::let_run(std::int64_t milliseconds) {
  if (!alive()) {
    return;
  }
  kill(pid_, SIGCONT);
  const std::int64_t deadline = now_ns() + milliseconds * 1'000'000;
  while (now_ns() < deadline && !poll_once(static_cast<int>(milliseconds))) {
    siginfo_t info{};
    waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
    if (info.si_pid == pid_) {
      break;
    }
  }
  Exchange stopping;
  if (!stop_process(stopping)) {
    end_ = stopping;
  }
}

}  // namespace kernelpro
