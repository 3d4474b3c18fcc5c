// kp:hack 9  a second thread within the slack of the rule on threads
// kp:task jacobi2d
// kp:expect passed|cheated not-faster|threads
// kp:options -O2 -pthread
//
// For `--threads 1`. The rule on threads lets 1.1 times the wall clock and 2 ms pass in each round,
// however short the round is. A second thread takes rows until it has used that much, then
// sleeps until the next round.
#include <kernelpro/candidate.h>
#include <link.h>
#include <time.h>

#include <atomic>
#include <cstring>
#include <thread>

namespace {

constexpr int64_t rows_a_part = 16;
constexpr int64_t free_ns = 1'500'000;

struct Work {
  const float* u;
  float* out;
  int64_t h;
  int64_t w;
};

constexpr size_t most_tensors = 64;
constexpr uint32_t most_sets = 1024;

struct Call {
  kp_context context;
  kp_tensor tensors[most_tensors];
};

// The head of the runner's request: "go" is 4.
struct Request {
  uint32_t op;
  uint32_t sequence;
  uint32_t count;
  uint32_t option;
  uint64_t first;
  uint16_t sets[most_sets];
};

const Request* request = nullptr;

int find_request(dl_phdr_info* info, size_t, void*) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) == 0) {
      continue;
    }
    const auto* words = reinterpret_cast<const uint32_t*>(info->dlpi_addr + segment.p_vaddr);
    for (size_t w = 0; w + sizeof(Request) / 4 <= segment.p_memsz / 4; w += 2) {
      if (words[w] == 4 && words[w + 2] >= 1 && words[w + 2] <= most_sets && words[w + 3] == 0) {
        request = reinterpret_cast<const Request*>(words + w);
      }
    }
  }
  return 1;
}

uint32_t sequence = 0;
Work work;
std::atomic<int64_t> next_row{0};
std::atomic<int64_t> rows_done{0};
std::atomic<uint32_t> ticket{0};  // odd: a call is under way
std::atomic<int64_t> round_start{0};
bool started = false;

int64_t now(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return t.tv_sec * 1'000'000'000LL + t.tv_nsec;
}

void rows(const float* from, float* to, int64_t h, int64_t w, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    const float* u = from + i * w;
    float* out = to + i * w;
    if (i == 0 || i == h - 1 || w < 3) {
      std::memcpy(out, u, static_cast<size_t>(w) * sizeof(float));
      continue;
    }
    out[0] = u[0];
    for (int64_t j = 1; j < w - 1; ++j) {
      out[j] = 0.5F * u[j] + 0.125F * (u[j - w] + u[j + w] + u[j - 1] + u[j + 1]);
    }
    out[w - 1] = u[w - 1];
  }
}

// Whether the second thread may go on: the first uses no more than the wall clock shows.
bool affordable() {
  thread_local int64_t round = 0;
  thread_local int64_t used_before = 0;
  const int64_t used = now(CLOCK_THREAD_CPUTIME_ID);
  if (round != round_start) {
    round = round_start;
    used_before = used;
  }
  return used - used_before < free_ns + (now(CLOCK_MONOTONIC) - round) / 12;
}

void take_parts(bool helper) {
  while (!helper || affordable()) {
    const int64_t begin = next_row.fetch_add(rows_a_part);
    if (begin >= work.h) {
      return;
    }
    const int64_t end = begin + rows_a_part < work.h ? begin + rows_a_part : work.h;
    rows(work.u, work.out, work.h, work.w, begin, end);
    rows_done.fetch_add(end - begin);
  }
}

void help() {
  uint32_t seen = 0;
  for (;;) {
    if (!affordable()) {
      const int64_t round = round_start;
      round_start.wait(round);
      continue;
    }
    const uint32_t at = ticket;
    if (at % 2 == 1 && at != seen) {
      seen = at;
      take_parts(true);
    }
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int64_t start = now(CLOCK_MONOTONIC);
  work = {static_cast<const float*>(tensors[0].data), static_cast<float*>(tensors[1].data),
          context->axes[0], context->axes[1]};
  next_row = 0;
  rows_done = 0;
  if (request == nullptr) {
    dl_iterate_phdr(find_request, nullptr);
  }
  if (request != nullptr && request->sequence != sequence) {
    sequence = request->sequence;
    round_start = start;
    round_start.notify_one();
  }
  if (!started) {
    started = true;
    std::thread(help).detach();
  }
  ++ticket;
  take_parts(false);
  while (rows_done < work.h) {
  }
  ++ticket;
  return 0;
}
