// The program around a user's function that watches what it touches. For probe.cpp only.
#pragma once

#include <string_view>

namespace kernelpro {

// In front of the user's file: hooks. clang calls __sanitizer_cov_* at every load and store of the
// instrumented code; without KP_WATCH nothing is watched and the call is timed. Headers of C++ are
// the file's own: they would take longer to read than everything else.
inline constexpr std::string_view probe_head = R"(
#include <stdint.h>
#include <cstddef>
#include <new>
static const size_t KP_CAPACITY = size_t(1) << 20;
void* kp_edge(size_t bytes);
struct KpTensor {
  const char* base; size_t bytes; size_t element; int64_t loaded; int64_t stored; bool fresh_read;
  int64_t written; unsigned char* marks; int64_t size; int64_t loads;
  size_t place; size_t part; size_t filled; };
extern KpTensor kp_tensors[64];
extern bool kp_watching;
// A part of an array of `room` structs: the place in the first one, and its bytes.
#define KP_FILLED(i, lanes) (long)(kp_tensors[i].filled / (lanes))
#define KP_PART(i, p, at, n, room) kp_tensors[i].base = (const char*)(p); \
  kp_tensors[i].element = sizeof(*(p)); kp_tensors[i].place = (size_t)((const char*)(at) - \
  (const char*)(p)); kp_tensors[i].part = (n); \
  kp_tensors[i].bytes = (size_t)(room) * sizeof(*(p))
#define KP_TENSOR(i, p, e) kp_tensors[i].base = (const char*)(p); kp_tensors[i].element = (e)
#define KP_LIST(i, p, e) KP_TENSOR(i, p, e); kp_tensors[i].bytes = KP_CAPACITY * (e)
#define KP_SIZE(i, n) kp_tensors[i].size = (int64_t)(n)
#define KP_OUT(to, from, n) __builtin_memcpy((void*)(to), (const void*)(from), (n))
)";

// The program itself, compiled for itself: the calls, each in a process of its own. A line of the
// input is one call: the axes, then for each tensor a kind of filling and its number, then how
// often to call.
inline constexpr std::string_view probe_main = R"(
#include <stdint.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static const size_t KP_CAPACITY = size_t(1) << 20;
struct KpTensor {
  const char* base; size_t bytes; size_t element; int64_t loaded; int64_t stored; bool fresh_read;
  int64_t written; unsigned char* marks; int64_t size; int64_t loads;
  size_t place; size_t part; size_t filled; };
extern "C" int kp_call(const long* axes, void* const* data);
KpTensor kp_tensors[64];
bool kp_watching = false;
// Memory behind which nothing can be touched.
void* kp_edge(size_t bytes) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  const size_t whole = (bytes + page - 1) / page * page;
  char* p = (char*)mmap(nullptr, whole + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                        -1, 0);
  mprotect(p + whole, page, PROT_NONE);
  return p + whole - bytes;
}
static void kp_touch_element(KpTensor& x, int64_t i, bool store) {
  int64_t& reach = store ? x.stored : x.loaded;
  if (i + 1 > reach) reach = i + 1;
  if (!store) ++x.loads;
  if (i >= (int64_t)KP_CAPACITY) return;
  if (store && !x.marks[i]) { x.marks[i] = 1; ++x.written; }
  if (!store && !x.marks[i]) x.fresh_read = true;
}
static void kp_touch_part(KpTensor& x, const char* at, size_t bytes, bool store) {
  const size_t from = (size_t)(at - x.base);
  for (size_t i = from / x.element; i <= (from + bytes - 1) / x.element; ++i) {
    const size_t begin = i * x.element + x.place;
    if (from < begin + x.part && begin < from + bytes) kp_touch_element(x, (int64_t)i, store);
  }
}
static void kp_touch(const void* p, size_t bytes, bool store) {
  if (!kp_watching) return;
  for (int t = 0; t < KP_TENSORS; ++t) {
    KpTensor& x = kp_tensors[t];
    const char* at = (const char*)p;
    if (x.base == nullptr || at < x.base || at >= x.base + x.bytes) continue;
    if (x.part != 0) { kp_touch_part(x, at, bytes, store); continue; }
    const int64_t first = (int64_t)((size_t)(at - x.base) / x.element);
    const int64_t last = (int64_t)((size_t)(at - x.base + bytes - 1) / x.element);
    for (int64_t i = first; i <= last; ++i) kp_touch_element(x, i, store);
    return;
  }
}
extern "C" {
#define KP_HOOK(n) \
  void __sanitizer_cov_load##n(void* p) { kp_touch(p, n, false); } \
  void __sanitizer_cov_store##n(void* p) { kp_touch(p, n, true); }
KP_HOOK(1) KP_HOOK(2) KP_HOOK(4) KP_HOOK(8) KP_HOOK(16)
// Copies of whole structs are no loads and stores to the compiler.
void kp_copy_hook(void* to, const void* from, size_t n, bool) {
  if (n) { kp_touch(from, n, false); kp_touch(to, n, true); memmove(to, from, n); } }
void kp_fill_hook(void* to, unsigned char c, size_t n, bool) {
  if (n) { kp_touch(to, n, true); memset(to, c, n); } }
void* kp_copy_call(void* to, const void* from, size_t n) {
  kp_copy_hook(to, from, n, false); return to; }
void* kp_fill_call(void* to, int c, size_t n) {
  kp_fill_hook(to, (unsigned char)c, n, false); return to; }
}
static double kp_unit(uint64_t& s) {
  s = s * 6364136223846793005ull + 1442695040888963407ull;
  return (double)(s >> 11) / 9007199254740992.0;
}
static void kp_put(void* data, int type, size_t i, double v) {
  switch (type) {
    case 0: ((float*)data)[i] = (float)v; break;
    case 1: ((double*)data)[i] = v; break;
    case 2: ((int8_t*)data)[i] = (int8_t)(int64_t)v; break;
    case 3: ((uint8_t*)data)[i] = (uint8_t)(int64_t)v; break;
    case 4: ((int16_t*)data)[i] = (int16_t)(int64_t)v; break;
    case 5: ((int32_t*)data)[i] = (int32_t)v; break;
    default: ((int64_t*)data)[i] = (int64_t)v; break;
  }
}
static double kp_get(const void* data, int type, size_t i) {
  return type == 0 ? ((const float*)data)[i] : type == 1 ? ((const double*)data)[i]
       : type == 2 ? ((const int8_t*)data)[i] : type == 3 ? ((const uint8_t*)data)[i]
       : type == 4 ? ((const int16_t*)data)[i] : type == 5 ? ((const int32_t*)data)[i]
       : (double)((const int64_t*)data)[i];
}
// Filling 0: numbers in [0.5, 1.5); 1: all `v`; 2: 0, v, 2v, ...; 3: whole numbers in [0, v);
// 4: numbers around 0; 5: whole numbers in [-v, v).
static double kp_value(int kind, double v, size_t i, uint64_t& s) {
  const double u = kp_unit(s);
  return kind == 0 ? 0.5 + u : kind == 1 ? v : kind == 2 ? v * (double)i
       : kind == 3 ? __builtin_floor(u * v) : kind == 4 ? 4 * u - 2
       : __builtin_floor((2 * u - 1) * v);
}
static int64_t kp_now() {
  timespec t; clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}
static void kp_run(const long* axes, const int* kinds, const double* numbers,
                            const size_t* sizes, int repeats, FILE* out) {
  void* data[64];
  for (int t = 0; t < KP_TENSORS; ++t) {
    KpTensor& x = kp_tensors[t];
    x.bytes = KP_BYTES;
    x.filled = sizes[t];
    data[t] = mmap(nullptr, KP_BYTES, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    x.marks = (unsigned char*)mmap(nullptr, KP_CAPACITY, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    uint64_t seed = 77 + (uint64_t)t;
    for (size_t i = 0; i < sizes[t]; ++i) {
      kp_put(data[t], kp_types[t], i, kp_value(kinds[t], numbers[t], i, seed));
    }
    x.size = -1;
  }
  kp_call(axes, data);
  int64_t best = 0;
  for (int r = 0; r < repeats; ++r) {
    const int64_t begin = kp_now();
    kp_call(axes, data);
    const int64_t took = kp_now() - begin;
    if (r == 0 || took < best) best = took;
  }
  kp_watching = false;
  fprintf(out, "ok %lld", (long long)best);
  for (int t = 0; t < KP_TENSORS; ++t) {
    const KpTensor& x = kp_tensors[t];
    uint64_t hash = 1469598103934665603ull;
    bool finite = true;
    const int64_t reach = x.size > x.stored ? x.size : x.stored;
    for (int64_t i = 0; i < reach * kp_lanes[t] && i < (1 << 20); ++i) {
      const double v = kp_get(data[t], kp_types[t], (size_t)i);
      if (!__builtin_isfinite(v)) finite = false;
      uint64_t bits; memcpy(&bits, &v, 8);
      hash = (hash ^ bits) * 1099511628211ull;
    }
    // What is timed is not watched.
    for (size_t i = 0; x.loaded + x.stored == 0 && i < x.filled && i < (1 << 20); ++i) {
      if (!__builtin_isfinite(kp_get(data[t], kp_types[t], i))) finite = false;
    }
    fprintf(out, " %lld %lld %d %lld %lld %d %lld %llu", (long long)x.loaded, (long long)x.stored,
            (int)x.fresh_read, (long long)x.written, (long long)x.size, (int)finite,
            (long long)x.loads, (unsigned long long)hash);
  }
  fprintf(out, "\n");
}
int main() {
  long axes[64];
  int kinds[64];
  double numbers[64];
  size_t sizes[64];
  int repeats = 0;
  int endless = 0;
  for (;;) {
    for (int i = 0; i < KP_AXES; ++i) if (scanf("%ld", &axes[i]) != 1) return 0;
    for (int t = 0; t < KP_TENSORS; ++t)
      if (scanf("%d %lf %zu", &kinds[t], &numbers[t], &sizes[t]) != 3) return 0;
    if (scanf("%d", &repeats) != 1) return 0;
    fflush(stdout);
    // Several that do not end tell enough of the others.
    if (endless == 3) { printf("signal %d\n", SIGALRM); continue; }
    const pid_t child = fork();
    if (child == 0) {
      // Time of its own: a busy machine makes nothing endless. What only waits has longer.
      const rlimit own = {KP_SECONDS, KP_SECONDS + 1};
      setrlimit(RLIMIT_CPU, &own);
      alarm(10 * KP_SECONDS);
      kp_run(axes, kinds, numbers, sizes, repeats, stdout);
      fflush(stdout);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    endless += WIFSIGNALED(status) &&
               (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGALRM);
    if (WIFSIGNALED(status)) printf("signal %d\n", WTERMSIG(status));
    else if (WEXITSTATUS(status) != 0) printf("exit %d\n", WEXITSTATUS(status));
    fflush(stdout);
  }
}
)";

}  // namespace kernelpro
