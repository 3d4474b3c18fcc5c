// What a trace adds up to: how busy the GPU was, what the host did while it was not, and which
// kernels took the time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/model/trace.hpp"

namespace kernelpro {

// What the host was doing for the most part of a gap.
enum class HostWork {
  launching,      // kernels, graphs and fills
  synchronizing,  // waiting for the GPU
  copying,
  allocating,  // and releasing
  elsewhere,   // in no call of CUDA, or in one of no interest
};

[[nodiscard]] std::string_view name_of(HostWork work);

// A time in which the GPU did nothing.
struct Gap {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  HostWork host = HostWork::elsewhere;
};

// All launches of one kernel. Kernels of one name are different ones where module, registers or
// static shared memory differ: the compiler made them twice.
struct KernelSum {
  std::string name;
  std::string module;
  int registers = 0;
  std::int64_t static_shared_bytes = 0;
  std::int64_t count = 0;
  std::int64_t total_ns = 0;
  std::int64_t median_ns = 0;
  double share = 0;         // of the time of all kernels
  std::size_t typical = 0;  // the launch of median duration, in Trace::launches
  std::int64_t launch = 0;  // its index in the process
};

struct CopySum {
  CopyKind kind = CopyKind::other;
  bool pageable = false;
  std::int64_t count = 0;
  std::int64_t bytes = 0;
  std::int64_t total_ns = 0;
};

struct CallSum {
  std::int64_t count = 0;
  std::int64_t total_ns = 0;
};

struct Timeline {
  std::int64_t span_ns = 0;  // of the traced part
  std::int64_t busy_ns = 0;  // in which the GPU did at least one thing
  std::int64_t idle_ns = 0;
  std::int64_t kernel_ns = 0;      // of all kernels; more than busy_ns where they overlap
  std::vector<Gap> gaps;           // by time; together they are idle_ns
  std::vector<KernelSum> kernels;  // most time first
  std::vector<CopySum> copies;     // most time first
  CallSum launching;               // calls that launch
  CallSum synchronizing;           // calls that wait for the GPU
  CallSum allocating;              // calls that allocate or release
  // Absent without a launch whose call is known.
  std::optional<std::int64_t> median_launch_ns;  // that a launching call takes
  std::optional<std::int64_t> median_queue_ns;   // from such a call's end to the kernel's start
};

// What lies outside the traced part does not count, and a record that ends before it starts counts
// as one of no duration.
[[nodiscard]] Timeline make_timeline(const Trace& trace);

}  // namespace kernelpro
