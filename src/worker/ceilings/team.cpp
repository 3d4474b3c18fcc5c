#include "worker/ceilings/team.hpp"

#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "common/base/clock.hpp"

namespace kernelpro {
namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;
// A sample is long against the microseconds by which threads start apart.
constexpr std::size_t bytes_per_sample = std::size_t{256} << 20;
constexpr std::size_t fma_rounds_per_sample = 4'000'000;
constexpr std::size_t kernel_granule = 128;  // kernels take multiples of so many doubles

struct Unmap {
  std::size_t bytes = 0;
  void operator()(double* memory) const { munmap(memory, bytes); }
};
using Memory = std::unique_ptr<double, Unmap>;

// Shared memory, as the judge gives it to candidates: a process's own could have larger pages, and
// nobody judged here would reach what it can do. Null when the memory is refused.
Memory touched_memory(std::size_t bytes) {
  const std::size_t rounded = (bytes + huge_page - 1) / huge_page * huge_page;
  void* mapped = mmap(nullptr, rounded, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) {
    return nullptr;
  }
  madvise(mapped, rounded, MADV_HUGEPAGE);
  std::memset(mapped, 0x3f, rounded);  // doubles of ordinary size, about 0.0005
  return Memory(static_cast<double*>(mapped), Unmap{rounded});
}

// Refused in some containers; the thread then runs where the system puts it.
void pin_to(int processor) {
  const auto count = static_cast<std::size_t>(processor) + 1;
  cpu_set_t* set = CPU_ALLOC(count);
  CPU_ZERO_S(CPU_ALLOC_SIZE(count), set);
  CPU_SET_S(static_cast<std::size_t>(processor), CPU_ALLOC_SIZE(count), set);
  sched_setaffinity(0, CPU_ALLOC_SIZE(count), set);
  CPU_FREE(set);
}

// Where a kernel's arrays lie in a thread's memory. The odd number of cache lines keeps entries of
// the same index off the same place in a page, where processors take them for the same address.
struct Layout {
  std::size_t elements = 0;
  std::size_t stride = 0;
};

Layout layout_of(std::size_t bytes, std::size_t arrays) {
  constexpr std::size_t page = 8192;
  constexpr std::size_t odd_lines = std::size_t{21} * 64;
  const std::size_t part = bytes / arrays / page * page;
  const std::size_t stride = (part - page + odd_lines) / sizeof(double);
  return {.elements = stride / kernel_granule * kernel_granule, .stride = stride};
}

std::int64_t thread_cpu_ns() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (static_cast<std::int64_t>(t.tv_sec) * 1'000'000'000) + t.tv_nsec;
}

struct Span {
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::int64_t cpu = 0;  // how long the thread really ran in between
  double work = 0;

  [[nodiscard]] std::int64_t wall() const { return end - start; }
  [[nodiscard]] double rate_while_running() const {
    return work / static_cast<double>(std::max<std::int64_t>(cpu, 1));
  }
};

// The rates of one kernel.
struct Rates {
  int samples = 0;
  std::vector<double> quiet;
  std::vector<double> disturbed;
};

// Reading the clocks and an interrupt take microseconds; another process takes milliseconds.
bool is_long(std::int64_t lost_ns, std::int64_t wall_ns) {
  return lost_ns > (wall_ns / 20) + 10'000;
}

class Team {
 public:
  Team(const TeamSettings& settings, const std::vector<KernelRun>& runs, std::stop_token stop)
      : settings_(settings),
        runs_(runs),
        stop_(std::move(stop)),
        bytes_(std::max(static_cast<std::size_t>(settings.memory_bytes) / threads(), huge_page)),
        spans_(threads()),
        rates_(runs.size()),
        barrier_(static_cast<std::ptrdiff_t>(threads()), Decide{this}) {
    for (Rates& rates : rates_) {  // so that decide() never allocates
      rates.quiet.reserve(static_cast<std::size_t>(most_samples()));
      rates.disturbed.reserve(static_cast<std::size_t>(most_samples()));
    }
  }

  Result<std::vector<std::vector<double>>> run() {
    std::vector<std::jthread> members;
    try {
      for (std::size_t i = 0; i < threads(); ++i) {
        members.emplace_back([this, i] { work(i); });
      }
    } catch (const std::system_error&) {
      refused_ = true;
      for (std::size_t i = members.size(); i < threads(); ++i) {
        barrier_.arrive_and_drop();
      }
    }
    members.clear();
    if (refused_) {
      return make_error(ErrorKind::environment,
                        "the system refused " + std::to_string(threads()) + " threads with " +
                            std::to_string(bytes_ >> 20) +
                            " MiB each for measuring this machine's ceilings; raise its limits on "
                            "threads and memory (ulimit -u, ulimit -v)");
    }
    if (current_ < runs_.size()) {
      return make_error(ErrorKind::interrupted, "stopped while measuring this machine's ceilings");
    }
    std::vector<std::vector<double>> found;
    found.reserve(rates_.size());
    for (Rates& rates : rates_) {
      found.push_back(std::move(rates.quiet.empty() ? rates.disturbed : rates.quiet));
    }
    return found;
  }

 private:
  // Runs once each time all threads have arrived, alone.
  struct Decide {
    Team* team;
    void operator()() const noexcept { team->decide(); }
  };

  [[nodiscard]] std::size_t threads() const { return settings_.processors.size(); }
  [[nodiscard]] int most_samples() const { return 3 * settings_.repeats; }

  void work(std::size_t member) {
    pin_to(settings_.processors[member]);
    const Memory memory = touched_memory(bytes_);
    if (!memory) {
      refused_ = true;
    }
    while (true) {
      barrier_.arrive_and_wait();
      if (leave_) {
        return;
      }
      spans_[member] = sample(runs_[current_], memory.get());
    }
  }

  // Notes the sample that was just taken, and says what all threads do next.
  void decide() {
    if (started_) {
      note_sample(rates_[current_]);
    }
    started_ = true;
    leave_ = refused_ || current_ == runs_.size() || stop_.stop_requested();
  }

  void note_sample(Rates& rates) {
    if (rates.samples > 0) {  // the first one warms up
      if (disturbed()) {
        rates.disturbed.push_back(rate_while_running());
      } else {
        rates.quiet.push_back(rate());
      }
    }
    const bool enough = static_cast<int>(rates.quiet.size()) == settings_.repeats;
    if (enough || rates.samples == most_samples()) {
      ++current_;
    }
    ++rates.samples;
  }

  // A thread waited for its processor, before its start or after.
  [[nodiscard]] bool disturbed() const {
    const auto [first, last] = std::ranges::minmax(spans_, {}, &Span::start);
    if (is_long(last.start - first.start, first.wall())) {
      return true;
    }
    return std::ranges::any_of(
        spans_, [](const Span& span) { return is_long(span.wall() - span.cpu, span.wall()); });
  }

  // From the first thread's start to the last one's end.
  [[nodiscard]] double rate() const {
    double work = 0;
    std::int64_t start = std::numeric_limits<std::int64_t>::max();
    std::int64_t end = 0;
    for (const Span& span : spans_) {
      start = std::min(start, span.start);
      end = std::max(end, span.end);
      work += span.work;
    }
    return work / static_cast<double>(std::max<std::int64_t>(end - start, 1));
  }

  [[nodiscard]] double rate_while_running() const {
    double sum = 0;
    for (const Span& span : spans_) {
      sum += span.rate_while_running();
    }
    return sum;
  }

  [[nodiscard]] Span sample(const KernelRun& run, double* memory) const {
    const std::size_t arrays = std::max<std::size_t>(run.arrays, 1);
    const Layout layout = layout_of(bytes_, arrays);
    double* a = run.arrays > 0 ? memory : nullptr;
    double* b = run.arrays > 1 ? memory + layout.stride : nullptr;
    double* c = run.arrays > 2 ? memory + (2 * layout.stride) : nullptr;
    const std::size_t n = run.arrays > 0 ? layout.elements : fma_rounds_per_sample;
    const std::size_t passes = run.arrays > 0 ? bytes_per_sample / bytes_ : 1;
    Span span;
    const std::int64_t cpu_before = thread_cpu_ns();
    span.start = now_ns();
    for (std::size_t pass = 0; pass < std::max<std::size_t>(passes, 1); ++pass) {
      span.work += run.kernel(a, b, c, n);
    }
    span.end = now_ns();
    span.cpu = thread_cpu_ns() - cpu_before;
    return span;
  }

  const TeamSettings& settings_;
  const std::vector<KernelRun>& runs_;
  std::stop_token stop_;
  std::size_t bytes_;        // of each thread
  std::vector<Span> spans_;  // of the current sample, one a thread
  std::atomic<bool> refused_ = false;
  // Written by decide() only, while all threads wait.
  std::vector<Rates> rates_;
  std::size_t current_ = 0;  // the kernel on turn
  bool started_ = false;
  bool leave_ = false;
  std::barrier<Decide> barrier_;
};

}  // namespace

Result<std::vector<std::vector<double>>> run_team(const TeamSettings& settings,
                                                  const std::vector<KernelRun>& runs,
                                                  std::stop_token stop) {
  return Team(settings, runs, std::move(stop)).run();
}

}  // namespace kernelpro
