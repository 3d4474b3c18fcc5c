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

struct Free {
  void operator()(double* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<double, Free>;

// Huge pages where the system has them: address translation is not what is measured. Null when the
// memory is refused.
Memory touched_memory(std::size_t bytes) {
  const std::size_t rounded = (bytes + huge_page - 1) / huge_page * huge_page;
  Memory memory(static_cast<double*>(std::aligned_alloc(huge_page, rounded)));
  if (memory) {
    madvise(memory.get(), rounded, MADV_HUGEPAGE);
    std::memset(memory.get(), 0x3f, rounded);  // doubles of ordinary size, about 0.0005
  }
  return memory;
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

struct Span {
  std::int64_t start = 0;
  std::int64_t end = 0;
  double work = 0;
};

class Team {
 public:
  Team(const TeamSettings& settings, const std::vector<KernelRun>& runs, std::stop_token stop)
      : settings_(settings),
        runs_(runs),
        stop_(std::move(stop)),
        bytes_(std::max(static_cast<std::size_t>(settings.memory_bytes) / threads(), huge_page)),
        spans_(threads(), std::vector<Span>(runs.size() * samples())),
        barrier_(static_cast<std::ptrdiff_t>(threads()), Decide{this}) {}

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
    if (leave_) {
      return make_error(ErrorKind::interrupted, "stopped while measuring this machine's ceilings");
    }
    return rates();
  }

 private:
  // Runs once each time all threads have arrived, so that they all leave at the same barrier.
  struct Decide {
    Team* team;
    void operator()() const noexcept {
      team->leave_ = team->refused_ || team->stop_.stop_requested();
    }
  };

  [[nodiscard]] std::size_t threads() const { return settings_.processors.size(); }
  [[nodiscard]] std::size_t samples() const {
    return static_cast<std::size_t>(settings_.repeats) + 1;
  }

  void work(std::size_t member) {
    pin_to(settings_.processors[member]);
    const Memory memory = touched_memory(bytes_);
    if (!memory) {
      refused_ = true;
    }
    for (std::size_t i = 0; i < spans_[member].size(); ++i) {
      barrier_.arrive_and_wait();
      if (leave_) {
        return;
      }
      spans_[member][i] = sample(runs_[i / samples()], memory.get());
    }
  }

  [[nodiscard]] Span sample(const KernelRun& run, double* memory) const {
    Span span;
    if (run.arrays == 0) {
      span.start = now_ns();
      span.work = run.kernel(nullptr, nullptr, nullptr, fma_rounds_per_sample);
      span.end = now_ns();
      return span;
    }
    const Layout layout = layout_of(bytes_, run.arrays);
    double* b = run.arrays > 1 ? memory + layout.stride : nullptr;
    double* c = run.arrays > 2 ? memory + (2 * layout.stride) : nullptr;
    const std::size_t passes = std::max<std::size_t>(bytes_per_sample / bytes_, 1);
    span.start = now_ns();
    for (std::size_t pass = 0; pass < passes; ++pass) {
      span.work += run.kernel(memory, b, c, layout.elements);
    }
    span.end = now_ns();
    return span;
  }

  // From the first thread's start to the last one's end.
  [[nodiscard]] double rate_of_sample(std::size_t index) const {
    Span all{.start = std::numeric_limits<std::int64_t>::max()};
    for (const auto& spans : spans_) {
      all.start = std::min(all.start, spans[index].start);
      all.end = std::max(all.end, spans[index].end);
      all.work += spans[index].work;
    }
    return all.work / static_cast<double>(std::max<std::int64_t>(all.end - all.start, 1));
  }

  [[nodiscard]] std::vector<std::vector<double>> rates() const {
    std::vector<std::vector<double>> rates(runs_.size());
    for (std::size_t i = 0; i < runs_.size() * samples(); ++i) {
      if (i % samples() != 0) {  // the first one warms up
        rates[i / samples()].push_back(rate_of_sample(i));
      }
    }
    return rates;
  }

  const TeamSettings& settings_;
  const std::vector<KernelRun>& runs_;
  std::stop_token stop_;
  std::size_t bytes_;  // of each thread
  std::vector<std::vector<Span>> spans_;
  std::atomic<bool> refused_ = false;
  bool leave_ = false;  // written by Decide only
  std::barrier<Decide> barrier_;
};

}  // namespace

Result<std::vector<std::vector<double>>> run_team(const TeamSettings& settings,
                                                  const std::vector<KernelRun>& runs,
                                                  std::stop_token stop) {
  return Team(settings, runs, std::move(stop)).run();
}

}  // namespace kernelpro
