// The kernels behind the measured ceilings of a processor. The worker builds this file for the
// probed target and calls each kernel from every measuring thread on memory of its own.
//
// Every kernel has the form double kernel(double* a, double* b, double* c, size_t n) and returns
// the work it did: bytes moved, as a program would count them, or floating-point operations.
// Memory kernels treat arrays of n doubles, n a multiple of 128, aligned to 64 bytes; arrays beyond
// those a kernel needs are ignored. FMA kernels touch no memory and run n rounds.
//
// Build without -ffast-math: it may fold the FMA chains away.
#include <cstddef>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#elif defined(__AVX__)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif

// Latency times pipes of an FMA is 8 to 16 on the processors of today, and the accumulators must
// stay in registers: 16 vector registers on x86-64 before AVX-512, 32 elsewhere.
#if defined(__x86_64__) && !defined(__AVX512F__)
#define ACCUMULATORS 12
#else
#define ACCUMULATORS 16
#endif

namespace {

using Floats = float __attribute__((vector_size(VECTOR_BYTES)));
using Doubles = double __attribute__((vector_size(VECTOR_BYTES)));
// The same over arrays that are written as plain doubles.
using DoublesInMemory = double __attribute__((vector_size(VECTOR_BYTES), may_alias));

constexpr std::size_t lanes = sizeof(Doubles) / sizeof(double);
constexpr std::size_t sum_count = 8;  // independent sums, so that adding never holds up loading

// Keeps a result from being optimized away.
template <typename T>
void keep(const T& value) {
  __asm__ volatile("" : : "m"(value) : "memory");
}

double bytes_of(std::size_t arrays, std::size_t n) {
  return static_cast<double>(arrays * n * sizeof(double));
}

// A store past the caches where the target has one; else a plain store.
void store_past_caches(double* to, double first, double second) {
#if defined(__SSE2__)
  _mm_stream_pd(to, _mm_set_pd(second, first));
#else
  to[0] = first;
  to[1] = second;
#endif
}

// Streaming stores are weakly ordered: nothing is done before they are out.
void finish_stores() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

// acc += acc * tiny leaves every value as it is and cannot be simplified: each step must wait for
// the one before it, and the accumulators for nobody.
template <typename Vector, typename Scalar>
double fma_rounds(std::size_t rounds) {
  Vector sums[ACCUMULATORS];
  for (int i = 0; i < ACCUMULATORS; ++i) {
    sums[i] = Vector{} + static_cast<Scalar>(i + 1);
  }
  Vector tiny = Vector{} + static_cast<Scalar>(0x1p-60);
  __asm__ volatile("" : "+m"(tiny));
  const Vector factor = tiny;
  for (std::size_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 16
    for (int i = 0; i < ACCUMULATORS; ++i) {
      sums[i] = sums[i] * factor + sums[i];
    }
  }
  keep(sums);
  constexpr std::size_t operations = 2 * ACCUMULATORS * (sizeof(Vector) / sizeof(Scalar));
  return static_cast<double>(rounds * operations);
}

// Reads from `Streams` places at once: prefetchers follow several streams better than one.
template <std::size_t Streams>
double read_streams(const double* a, std::size_t n) {
  constexpr std::size_t step = sum_count / Streams;
  const auto* from = reinterpret_cast<const DoublesInMemory*>(a);
  const std::size_t part = n / lanes / Streams;
  Doubles sums[sum_count] = {};
  for (std::size_t i = 0; i < part; i += step) {
#pragma GCC unroll 8
    for (std::size_t k = 0; k < sum_count; ++k) {
      sums[k] += from[k / step * part + i + k % step];
    }
  }
  keep(sums);
  return bytes_of(1, n);
}

}  // namespace

// Builds hide what is not marked.
#pragma GCC visibility push(default)
extern "C" {

double kp_read_one(double* a, double* /*b*/, double* /*c*/, std::size_t n) {
  return read_streams<1>(a, n);
}

double kp_read_four(double* a, double* /*b*/, double* /*c*/, std::size_t n) {
  return read_streams<4>(a, n);
}

double kp_write_plain(double* a, double* /*b*/, double* /*c*/, std::size_t n) {
  auto* to = reinterpret_cast<DoublesInMemory*>(a);
  const DoublesInMemory value = DoublesInMemory{} + 1.5;
  for (std::size_t i = 0; i < n / lanes; ++i) {
    to[i] = value;
  }
  keep(*a);
  return bytes_of(1, n);
}

double kp_write_zero(double* a, double* /*b*/, double* /*c*/, std::size_t n) {
  std::memset(a, 0, n * sizeof(double));
  keep(*a);
  return bytes_of(1, n);
}

double kp_write_stream(double* a, double* /*b*/, double* /*c*/, std::size_t n) {
  for (std::size_t i = 0; i < n; i += 2) {
    store_past_caches(a + i, 1.5, 1.5);
  }
  finish_stores();
  keep(*a);
  return bytes_of(1, n);
}

double kp_copy_plain(double* a, double* b, double* /*c*/, std::size_t n) {
  std::memcpy(a, b, n * sizeof(double));
  keep(*a);
  return bytes_of(2, n);
}

double kp_copy_stream(double* a, double* b, double* /*c*/, std::size_t n) {
  for (std::size_t i = 0; i < n; i += 2) {
    store_past_caches(a + i, b[i], b[i + 1]);
  }
  finish_stores();
  keep(*a);
  return bytes_of(2, n);
}

double kp_triad_plain(double* __restrict a, double* __restrict b, double* __restrict c,
                      std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    a[i] = b[i] + 0.5 * c[i];
  }
  keep(*a);
  return bytes_of(3, n);
}

double kp_triad_stream(double* __restrict a, double* __restrict b, double* __restrict c,
                       std::size_t n) {
  for (std::size_t i = 0; i < n; i += 2) {
    store_past_caches(a + i, b[i] + 0.5 * c[i], b[i + 1] + 0.5 * c[i + 1]);
  }
  finish_stores();
  keep(*a);
  return bytes_of(3, n);
}

double kp_fma_f32(double* /*a*/, double* /*b*/, double* /*c*/, std::size_t n) {
  return fma_rounds<Floats, float>(n);
}

double kp_fma_f64(double* /*a*/, double* /*b*/, double* /*c*/, std::size_t n) {
  return fma_rounds<Doubles, double>(n);
}

}  // extern "C"
#pragma GCC visibility pop
