#include "sample/sampler.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <new>

#include "common/base/sample_file.hpp"

namespace kernelpro::sample {

namespace {

// The kernel looks at such timers with each of its own ticks, so this means "at every tick".
constexpr std::uint32_t period_us = 1000;
constexpr std::uint32_t capacity = 1U << 20U;
constexpr std::size_t file_bytes = sizeof(Header) + capacity * sizeof(Record);
// Libraries may be loaded at any time: the map is written again after so many samples.
constexpr std::uint32_t map_again = 64;
constexpr std::size_t longest_path = 1024;
constexpr mode_t readable = 0644;

Header* header = nullptr;  // never unmapped: a handler may be under way
char maps_path[longest_path];
char new_maps_path[longest_path];
std::atomic_flag copying = ATOMIC_FLAG_INIT;

std::int64_t read_clock(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
}

struct Taken {
  std::int64_t cpu_ns = 0;
  std::int64_t system_ns = 0;
  std::int64_t faults = 0;
  std::int64_t resident_bytes = 0;
};

Taken taken_by_now() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return {read_clock(CLOCK_PROCESS_CPUTIME_ID),
          used.ru_stime.tv_sec * 1'000'000'000LL + used.ru_stime.tv_usec * 1000LL, used.ru_minflt,
          used.ru_maxrss * 1024LL};
}

Taken at_start;

void note_time(std::int64_t time) {
  const Taken now = taken_by_now();
  header->last_ns = time;
  header->cpu_ns = now.cpu_ns - at_start.cpu_ns;
  header->system_ns = now.system_ns - at_start.system_ns;
  header->faults = now.faults - at_start.faults;
  header->resident_bytes = now.resident_bytes;
}

// Calls only what a signal handler may call.
void copy_maps() {
  if (copying.test_and_set()) {
    return;
  }
  const int from = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  const int to = open(new_maps_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, readable);
  if (from >= 0 && to >= 0) {
    static char buffer[1 << 14];
    bool whole = true;
    for (ssize_t got = read(from, buffer, sizeof buffer); got > 0;
         got = read(from, buffer, sizeof buffer)) {
      whole = write(to, buffer, static_cast<std::size_t>(got)) == got && whole;
    }
    if (whole) {
      rename(new_maps_path, maps_path);
    }
  }
  close(from);
  close(to);
  copying.clear();
}

std::uint64_t instruction_of(const void* context) {
  const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return static_cast<std::uint64_t>(machine.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return machine.pc;
#else
#error "which register holds the address of the instruction?"
#endif
}

void on_tick(int /*signal*/, siginfo_t* /*info*/, void* context) {
  const int kept = errno;
  const std::uint32_t index = header->count.fetch_add(1);
  const std::int64_t time = read_clock(CLOCK_MONOTONIC);
  if (index < header->capacity) {
    auto* const records = reinterpret_cast<Record*>(header + 1);
    records[index] = {instruction_of(context), static_cast<std::uint32_t>(syscall(SYS_gettid)),
                      static_cast<std::uint32_t>((time - header->start_ns) / 1'000'000)};
  }
  note_time(time);
  const std::uint32_t seen = index + 1;
  if (seen % map_again == 0 || (seen & (seen - 1)) == 0) {
    copy_maps();
  }
  errno = kept;
}

bool set_timer(std::uint32_t microseconds) {
  const timeval period{0, static_cast<suseconds_t>(microseconds)};
  const itimerval timer{period, period};
  return setitimer(ITIMER_PROF, &timer, nullptr) == 0;
}

bool is_free(int signal) {
  struct sigaction present{};
  return sigaction(signal, nullptr, &present) == 0 &&
         (present.sa_handler == SIG_DFL || present.sa_sigaction == on_tick);
}

Header* map_file(const char* path) {
  const int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, readable);
  void* mapped = MAP_FAILED;
  if (file >= 0 && ftruncate(file, file_bytes) == 0) {
    mapped = mmap(nullptr, file_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  }
  close(file);
  return mapped == MAP_FAILED ? nullptr : new (mapped) Header;
}

}  // namespace

bool start(const char* folder) {
  const auto process = static_cast<int>(getpid());
  char path[longest_path];
  std::snprintf(path, sizeof path, "%s/%s%d", folder, samples_prefix, process);
  std::snprintf(maps_path, sizeof maps_path, "%s/%s%d", folder, maps_prefix, process);
  const int length =
      std::snprintf(new_maps_path, sizeof new_maps_path, "%s/new.%d", folder, process);
  if (length >= static_cast<int>(sizeof new_maps_path) || !is_free(SIGPROF)) {
    return false;
  }
  Header* mapped = map_file(path);
  if (mapped == nullptr) {
    return false;
  }
  mapped->process = static_cast<std::uint32_t>(process);
  mapped->capacity = capacity;
  mapped->period_us = period_us;
  mapped->start_ns = read_clock(CLOCK_MONOTONIC);
  at_start = taken_by_now();
  mapped->last_ns = mapped->start_ns;
  mapped->magic = magic;
  header = mapped;
  copy_maps();
  struct sigaction action{};
  action.sa_sigaction = on_tick;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigemptyset(&action.sa_mask);
  return sigaction(SIGPROF, &action, nullptr) == 0 && set_timer(period_us);
}

void stop() {
  set_timer(0);
  if (header != nullptr) {
    note_time(read_clock(CLOCK_MONOTONIC));
    copy_maps();
  }
}

}  // namespace kernelpro::sample
