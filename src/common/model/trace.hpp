// What a program asked of a GPU and when the GPU did it: the system level of a profile.
//
// All times are nanoseconds on one clock, counted from the trace's begin.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace kernelpro {

using Extent = std::array<std::int64_t, 3>;

// A kernel's launch as it ran on the GPU.
struct TracedLaunch {
  std::int64_t index = 0;  // among all kernel launches of the process, from 0
  std::string name;        // as the compiler made it (mangled)
  std::string module;      // tells two functions of one name apart; empty: not known
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
  std::uint32_t correlation = 0;  // of the call that asked for it
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  Extent grid{};
  Extent block{};
  int registers = 0;
  std::int64_t static_shared_bytes = 0;
  std::int64_t dynamic_shared_bytes = 0;
  std::int64_t local_bytes = 0;  // per thread
};

enum class CopyKind { host_to_device, device_to_host, device_to_device, other };

struct TracedCopy {
  CopyKind kind = CopyKind::other;
  bool pageable = false;  // one side is host memory that is not pinned
  std::int64_t bytes = 0;
  std::uint32_t stream = 0;
  std::uint32_t correlation = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
};

struct TracedFill {
  std::int64_t bytes = 0;
  std::uint32_t stream = 0;
  std::uint32_t correlation = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
};

enum class CallKind { launch, copy, fill, synchronize, allocate, release, other };

// A call of the CUDA driver or run-time interface, on the host. Calls inside calls are left out.
struct TracedCall {
  CallKind kind = CallKind::other;
  std::string name;  // "cudaLaunchKernel"
  std::uint32_t thread = 0;
  std::uint32_t correlation = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
};

struct Trace {
  std::string origin;                  // "cupti" or "nsys"
  std::string architecture;            // "sm_90"; empty: not known
  bool complete = true;                // false: the program was cut off, or records were dropped
  std::string problem;                 // why not
  std::int64_t end_ns = 0;             // of the traced part
  std::vector<TracedLaunch> launches;  // by start
  std::vector<TracedCopy> copies;
  std::vector<TracedFill> fills;
  std::vector<TracedCall> calls;
};

}  // namespace kernelpro
