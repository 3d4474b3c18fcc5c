#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <future>
#include <mutex>
#include <numeric>
#include <thread>
#include <vector>

#include "defects_cpu.hpp"

#define CASE __attribute__((noinline)) double
#define KERNEL __attribute__((noinline))

namespace defects {

namespace {

constexpr char tool[] = "idle_threads";
const std::vector<std::string> chain = {"dependent_chain"};
const std::vector<std::string> divisions = {"slow_math"};
const std::vector<std::string> scalar_chain = {"not_vectorized", "dependent_chain"};

// Arithmetic on what stays in registers: about 50 ns for each of `turns`.
KERNEL float simulate(int item, int turns) {
  float v[64];
  for (int k = 0; k < 64; ++k) v[k] = 1 + static_cast<float>((item * 7 + k) % 19) * 0.0625f;
  for (int t = 0; t < 16 * turns; ++t)
    for (int k = 0; k < 64; ++k) v[k] = 1 + v[k] * (0.25f + v[k] * 0.0625f);
  float sum = 0;
  for (int k = 0; k < 64; ++k) sum += v[k];
  return sum;
}
double sum_of(const float* list, int count) {
  return std::accumulate(list, list + count, 0.0);
}

// Tables are made by one thread, and used by all.
template <bool Shared>
CASE tables() {
  static float table[512];
  static float result[512];
  if (Shared) {
#pragma omp parallel for schedule(static)
    for (int i = 0; i < 512; ++i) table[i] = simulate(i, 150);
  } else {
    for (int i = 0; i < 512; ++i) table[i] = simulate(i, 150);
  }
#pragma omp parallel for schedule(static)
  for (int i = 0; i < 512; ++i) result[i] = simulate(i, 250) + table[511 - i];
  return sum_of(result, 512);
}

// A fractal whose inner part, where all steps are taken, is in the last lines.
KERNEL int fractal_line(int line) {
  int all = 0;
  for (int j = 0; j < 512; ++j) {
    const float x0 = -1.5f + static_cast<float>(j) * (2.0f / 512);
    const float y0 = -1.3f + static_cast<float>(line) * (1.3f / 192);
    float x = 0;
    float y = 0;
    int n = 0;
    for (; n < 100 && x * x + y * y < 4; ++n) {
      const float next = x * x - y * y + x0;
      y = 2 * x * y + y0;
      x = next;
    }
    all += n;
  }
  return all;
}
CASE fractal_static() {
  long all = 0;
#pragma omp parallel for schedule(static) reduction(+ : all)
  for (int i = 0; i < 192; ++i) all += fractal_line(i);
  return static_cast<double>(all);
}
CASE fractal_dynamic() {
  long all = 0;
#pragma omp parallel for schedule(dynamic, 4) reduction(+ : all)
  for (int i = 0; i < 192; ++i) all += fractal_line(i);
  return static_cast<double>(all);
}

// Nodes of a network, sorted by how many neighbors they have: half of the nodes have nearly all.
struct Network {
  std::vector<int> begin{0};
  std::vector<int> ends;
};
const Network& network() {
  static const Network made = [] {
    Network one;
    for (int i = 0; i < 4096; ++i) {
      const int degree = 4 + 400000 / (1000 + 2 * i) - 40;
      for (int k = 0; k < degree; ++k) one.ends.push_back((i * 31 + k * 17) % 4096);
      one.begin.push_back(static_cast<int>(one.ends.size()));
    }
    return one;
  }();
  return made;
}
float node_rank(const Network& net, const float* rank, int node) {
  float part[4] = {};
  const int begin = net.begin[static_cast<std::size_t>(node)];
  const int end = net.begin[static_cast<std::size_t>(node) + 1];
  int at = begin;
  for (; at + 4 <= end; at += 4)
    for (int u = 0; u < 4; ++u) part[u] += rank[net.ends[static_cast<std::size_t>(at + u)]];
  for (; at < end; ++at) part[0] += rank[net.ends[static_cast<std::size_t>(at)]];
  return part[0] + part[1] + part[2] + part[3];
}
CASE ranks_by_nodes() {
  const Network& net = network();
  static float now[4096];
  static const std::vector<float> ranks(4096 + 20, 0.25f);
  const float* rank = ranks.data();
  for (int turn = 0; turn < 20; ++turn) {
#pragma omp parallel for schedule(static)
    for (int i = 0; i < 4096; ++i) now[i] = node_rank(net, rank + turn, i);
  }
  return sum_of(now, 4096);
}
CASE ranks_by_ends() {
  const Network& net = network();
  static float now[4096];
  static const std::vector<float> ranks(4096 + 20, 0.25f);
  const float* rank = ranks.data();
  for (int turn = 0; turn < 20; ++turn) {
#pragma omp parallel
    {
      const auto all = static_cast<long>(net.ends.size());
      const auto bound = [&](int thread) {
        const long ends = all * thread / omp_get_num_threads();
        return static_cast<int>(std::lower_bound(net.begin.begin(), net.begin.end() - 1, ends) -
                                net.begin.begin());
      };
      const int me = omp_get_thread_num();
      const int last = me + 1 == omp_get_num_threads() ? 4096 : bound(me + 1);
      for (int i = bound(me); i < last; ++i) now[i] = node_rank(net, rank + turn, i);
    }
  }
  return sum_of(now, 4096);
}

// One thread of the team finds all the work and does it, or hands it out.
CASE one_works() {
  static float result[256];
#pragma omp parallel
  {
#pragma omp master
    for (int i = 0; i < 256; ++i) result[i] = simulate(i, 400);
  }
  return sum_of(result, 256);
}
CASE one_hands_out() {
  static float result[256];
#pragma omp parallel
  {
#pragma omp master
    for (int i = 0; i < 256; i += 8) {
#pragma omp task firstprivate(i)
      for (int k = i; k < i + 8; ++k) result[k] = simulate(k, 400);
    }
  }
  return sum_of(result, 256);
}

// Sorted by two threads, cut at a guess or in the middle.
template <int Percent>
CASE sort_halves() {
  constexpr int count = 1 << 17;
  static std::vector<int> list(count);
  std::uint32_t next = 0;
  for (int& one : list) one = static_cast<int>((next += 2654435769U) >> 8U);
  int* const begin = list.data();
  int* const end = begin + count;
  int* const cut = begin + count / 100 * Percent;
  std::nth_element(begin, cut, end);
  const auto other = std::async(std::launch::async, [=] { std::sort(begin, cut); });
  std::sort(cut, end);
  other.wait();
  return list[100] + list[count - 7];
}

// Counts of each thread, which one thread puts together, or each a part of them.
constexpr int bins = 16000;
template <bool Shared>
CASE counts() {
  static std::vector<std::uint32_t> parts(static_cast<std::size_t>(bins) * 16);
  static std::vector<float> entropy(bins);
  const auto merge = [](int b) {
    std::uint32_t sum = 1;
    for (int p = 0; p < 16; ++p) sum += parts[static_cast<std::size_t>(p * bins + b)];
    const float share = static_cast<float>(sum) / (16 * 10000);
    entropy[static_cast<std::size_t>(b)] = -share * std::log(share);
  };
  double all = 0;
  for (std::uint32_t picture = 0; picture < 12; ++picture) {
#pragma omp parallel
    {
#pragma omp for schedule(static)
      for (int p = 0; p < 16; ++p) {
        std::uint32_t* const mine = parts.data() + p * bins;
        std::fill(mine, mine + bins, 0U);
        std::uint32_t next = picture * 77 + static_cast<std::uint32_t>(p);
        for (int i = 0; i < 10000; ++i) ++mine[((next += 2654435769U) >> 16U) % bins];
      }
      if (Shared) {
#pragma omp for schedule(static)
        for (int b = 0; b < bins; ++b) merge(b);
      }
    }
    if (!Shared)
      for (int b = 0; b < bins; ++b) merge(b);
    all += sum_of(entropy.data() + 100, 50);
  }
  return all;
}

// Steps of time with a barrier behind each; zones beside the source take six small steps for one.
template <int Chunk>
CASE source() {
  constexpr int zones = 96;
  static float heat[zones];
  std::fill(std::begin(heat), std::end(heat), 0.f);
#pragma omp parallel
  for (int step = 0; step < 8; ++step) {
#pragma omp for schedule(static, Chunk)
    for (int i = 0; i < zones; ++i)
      for (int part = 0; part < (i < 24 ? 6 : 1); ++part) heat[i] += simulate(i + part, 100);
  }
  return sum_of(heat, zones);
}

// Three channels for all threads, or their lines.
template <bool Lines>
CASE channels() {
  static float result[3][64];
  if (Lines) {
#pragma omp parallel for collapse(2) schedule(static)
    for (int c = 0; c < 3; ++c)
      for (int i = 0; i < 64; ++i) result[c][i] = simulate(c * 64 + i, 600);
  } else {
#pragma omp parallel for schedule(static)
    for (int c = 0; c < 3; ++c)
      for (int i = 0; i < 64; ++i) result[c][i] = simulate(c * 64 + i, 600);
  }
  return sum_of(result[0], 192);
}

// Forces by all threads, then new places by one, each step.
template <bool Shared>
CASE bodies() {
  constexpr int count = 512;
  static float place[count];
  static float force[count];
  for (int i = 0; i < count; ++i) place[i] = static_cast<float>(i * 37 % 512) * 0.01f;
  for (int step = 0; step < 8; ++step) {
#pragma omp parallel for schedule(static)
    for (int i = 0; i < count; ++i) {
      float part[16] = {};
      for (int j = 0; j < count; j += 16)
        for (int u = 0; u < 16; ++u) {
          const float apart = place[j + u] - place[i];
          part[u] += apart / (apart * apart + 0.25f);
        }
      float sum = 0;
      for (const float one : part) sum += one;
      force[i] = sum;
    }
#pragma omp parallel for schedule(static) if (Shared)
    for (int i = 0; i < count; ++i) place[i] += force[i] * 1e-4f + 1e-6f * simulate(i, 8);
  }
  return place[3] + place[count - 1];
}

// Two phases; the second is thought too short for threads.
template <int Least>
CASE phases() {
  static float first[400];
  static float second[200];
#pragma omp parallel for schedule(static)
  for (int i = 0; i < 400; ++i) first[i] = simulate(i, 200);
#pragma omp parallel for schedule(static) if (std::size(second) >= Least)
  for (int i = 0; i < 200; ++i) second[i] = first[2 * i] + simulate(i, 400);
  return sum_of(second, 200);
}

// Lines in blocks of 64 for each thread, and the rest for the last; or in single lines.
template <int Block>
CASE rounded() {
  constexpr int count = 250;
  static float result[count];
#pragma omp parallel
  {
    const int threads = omp_get_num_threads();
    const int me = omp_get_thread_num();
    const int share = count / threads / Block * Block;
    const int end = me + 1 == threads ? count : (me + 1) * share;
    for (int i = me * share; i < end; ++i) result[i] = simulate(i, 600);
  }
  return sum_of(result, count);
}

// Each thread has accounts of its own, by the last digit: most are even.
template <int Skip>
CASE accounts() {
  constexpr int count = 240;
  static float result[count];
#pragma omp parallel
  {
    const int threads = omp_get_num_threads();
    const int me = omp_get_thread_num();
    for (int i = 0; i < count; ++i) {
      const int number = i % 8 == 0 ? 2 * i + 1 : 2 * i;
      if (number / Skip % threads == me) result[i] = simulate(i, 600);
    }
  }
  return sum_of(result, count);
}

// The first thread only looks after the others; or works too.
template <bool Works>
CASE coordinator() {
  constexpr int count = 200;
  static float result[count];
  std::atomic<int> done{0};
#pragma omp parallel
  {
    const int idle = !Works && omp_get_num_threads() > 1 ? 1 : 0;
    const int workers = omp_get_num_threads() - idle;
    const int me = omp_get_thread_num() - idle;
    if (me >= 0)
      for (int i = me; i < count; i += workers) {
        result[i] = simulate(i, 600);
        ++done;
      }
#pragma omp barrier
#pragma omp master
    result[0] += static_cast<float>(done.load());
  }
  return sum_of(result, count);
}

// Files of different sizes for two workers: a half of the names each, or the next when done.
int file_size(int i) {
  return 100 + (i < 24 ? 360 : 30) * (i * 7 % 13 + 8);
}
template <bool Queue>
CASE files() {
  constexpr int count = 96;
  static float result[count];
  std::atomic<int> next{0};
  const auto work = [&](int worker) {
    if (Queue) {
      for (int i = next++; i < count; i = next++) result[i] = simulate(i, file_size(i));
    } else {
      for (int i = worker * count / 2; i < (worker + 1) * count / 2; ++i)
        result[i] = simulate(i, file_size(i));
    }
  };
  std::thread other(work, 1);
  work(0);
  other.join();
  return sum_of(result, count);
}

// One thread reads, the other writes, and reading takes four times as long; or each does both.
class Pipe {
 public:
  void put(float value) {
    const std::lock_guard<std::mutex> held(lock_);
    values_.push_back(value);
    ready_.notify_one();
  }
  float get(std::size_t i) {
    std::unique_lock<std::mutex> held(lock_);
    ready_.wait(held, [&] { return values_.size() > i; });
    return values_[i];
  }

 private:
  std::mutex lock_;
  std::condition_variable ready_;
  std::vector<float> values_;
};
constexpr int packets = 24;
CASE pipe_by_stage() {
  static float result[packets];
  Pipe pipe;
  std::thread writer([&] {
    for (int i = 0; i < packets; ++i)
      result[i] = pipe.get(static_cast<std::size_t>(i)) + simulate(i, 1000);
  });
  for (int i = 0; i < packets; ++i) pipe.put(simulate(i, 4000));
  writer.join();
  return sum_of(result, packets);
}
CASE pipe_by_packet() {
  static float result[packets];
  const auto both = [](int from) {
    for (int i = from; i < packets; i += 2) result[i] = simulate(i, 4000) + simulate(i, 1000);
  };
  std::thread other(both, 1);
  both(0);
  other.join();
  return sum_of(result, packets);
}

// Every second line is long, and lines are dealt one by one or in order.
template <int Chunk>
CASE interlaced() {
  static float result[240];
#pragma omp parallel for schedule(static, Chunk)
  for (int i = 0; i < 240; ++i) result[i] = simulate(i, i % 2 == 0 ? 700 : 150);
  return sum_of(result, 240);
}

// Jobs are dealt in turn, and one of them is long; or by their lengths, the longest first.
constexpr int job_count = 40;
int job_length(int job) {
  return job == job_count - 1 ? 22000 : 300 + 40 * job;
}
CASE jobs_dealt() {
  static float result[job_count];
#pragma omp parallel for schedule(static, 1)
  for (int job = 0; job < job_count; ++job) result[job] = simulate(job, job_length(job));
  return sum_of(result, job_count);
}
CASE jobs_shared() {
  static float result[job_count];
  static std::vector<int> owner(job_count);
#pragma omp parallel
  {
#pragma omp single
    {
      std::vector<int> loads(static_cast<std::size_t>(omp_get_num_threads()));
      for (int job = job_count - 1; job >= 0; --job) {
        const auto least = std::min_element(loads.begin(), loads.end());
        *least += job_length(job);
        owner[static_cast<std::size_t>(job)] = static_cast<int>(least - loads.begin());
      }
    }
    for (int job = 0; job < job_count; ++job)
      if (owner[static_cast<std::size_t>(job)] == omp_get_thread_num())
        result[job] = simulate(job, job_length(job));
  }
  return sum_of(result, job_count);
}

// A quarter of the lines for one thread and the rest for the other, which take as long.
CASE unequal_counts() {
  static float result[256];
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) {
      for (int i = 0; i < 64; ++i) result[i] = simulate(i, 1200);
    } else {
      for (int i = 64; i < 256; ++i) result[i] = simulate(i, 400);
    }
  }
  return sum_of(result, 256);
}

// A short preparation by one thread.
CASE short_preparation() {
  static float result[256];
  float scale = simulate(3, 600);
#pragma omp parallel for schedule(static)
  for (int i = 0; i < 256; ++i) result[i] = simulate(i, 600) * scale;
  return sum_of(result, 256);
}

// Two workers, and a third thread that waits for them.
CASE waiting_main() {
  static float result[256];
  const auto work = [](int from) {
    for (int i = from; i < from + 128; ++i) result[i] = simulate(i, 600);
  };
  std::thread one(work, 0);
  std::thread two(work, 128);
  one.join();
  two.join();
  return sum_of(result, 256);
}

// Steps with a barrier behind each, and equal shares.
CASE even_steps() {
  static float result[128];
#pragma omp parallel
  for (int step = 0; step < 6; ++step) {
#pragma omp for schedule(static)
    for (int i = 0; i < 128; ++i) result[i] = simulate(i + step, 250);
  }
  return sum_of(result, 128);
}

// A lock that each thread holds for a moment.
CASE short_lock() {
  double sum = 0;
#pragma omp parallel for schedule(static)
  for (int i = 0; i < 256; ++i) {
    const float mine = simulate(i, 500);
#pragma omp critical
    sum += mine;
  }
  return std::round(sum);
}

// Many small tasks of different lengths.
CASE small_tasks() {
  static float result[128];
#pragma omp parallel
  {
#pragma omp single
#pragma omp taskloop grainsize(2)
    for (int i = 0; i < 128; ++i) result[i] = simulate(i, 300 + 10 * i);
  }
  return sum_of(result, 128);
}

// One thread, for each value comes from the last.
CASE one_after_other() {
  std::uint32_t state = 1;
  for (int i = 0; i < 1000000; ++i) {
    state ^= state << 13U;
    state ^= state >> 17U;
    state ^= state << 5U;
  }
  return state;
}

// One thread: a text whose quotes say what the rest is.
CASE quoted_text() {
  static const auto text = [] {
    std::vector<char> made;
    for (std::uint32_t i = 0; i < 1U << 20U; ++i)
      made.push_back(static_cast<char>(32 + ((i * 2654435769U) >> 25U) % 64));
    return made;
  }();
  int fields = 0;
  bool quoted = false;
  for (const char c : text) {
    quoted ^= c == '"';
    fields += static_cast<int>(!quoted && c == ',');
  }
  return fields;
}

}  // namespace

void add_second_idle_threads() {
  add_pair(tool, "second_tables", tables<false>, tables<true>);
  add_pair(tool, "second_fractal", fractal_static, fractal_dynamic, scalar_chain, scalar_chain);
  add_pair(tool, "second_network", ranks_by_nodes, ranks_by_ends, scalar_chain, scalar_chain);
  add_pair(tool, "second_one_works", one_works, one_hands_out);
  add_pair(tool, "second_sort", sort_halves<10>, sort_halves<50>, scalar_chain, scalar_chain);
  add_pair(tool, "second_counts", counts<false>, counts<true>, scalar_chain, scalar_chain);
  add_pair(tool, "second_source", source<48>, source<1>);
  add_pair(tool, "second_channels", channels<false>, channels<true>);
  add_pair(tool, "second_bodies", bodies<false>, bodies<true>, divisions, divisions);
  add_pair(tool, "second_phases", phases<1000>, phases<100>);
  add_pair(tool, "second_rounded", rounded<64>, rounded<1>);
  add_pair(tool, "second_accounts", accounts<1>, accounts<4>);
  add_pair(tool, "second_coordinator", coordinator<false>, coordinator<true>);
  add_pair(tool, "second_files", files<false>, files<true>);
  add_pair(tool, "second_pipe", pipe_by_stage, pipe_by_packet);
  add_pair(tool, "second_interlaced", interlaced<1>, interlaced<4>);
  add_pair(tool, "second_jobs", jobs_dealt, jobs_shared);
  add_clean(tool, "second_unequal_counts", unequal_counts);
  add_clean(tool, "second_preparation", short_preparation);
  add_clean(tool, "second_waiting_main", waiting_main);
  add_clean(tool, "second_even_steps", even_steps);
  add_clean(tool, "second_short_lock", short_lock);
  add_clean(tool, "second_small_tasks", small_tasks);
  add_clean(tool, "second_one_after_other", one_after_other, chain);
  add_clean(tool, "second_quoted_text", quoted_text, scalar_chain);
}

}  // namespace defects
