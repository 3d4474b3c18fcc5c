// What the sampler leaves in its folder, for each process a file of samples (`samples.PID`, as it
// is in memory) and a copy of /proc/self/maps (`maps.PID`).
//
// Both are complete at any moment, so that a program that is killed has been seen until then.
#pragma once

#include <atomic>
#include <cstdint>

namespace kernelpro::sample {

// Names the folder to the library that is loaded into a program.
inline constexpr char folder_variable[] = "KERNELPRO_SAMPLES";
inline constexpr char samples_prefix[] = "samples.";
inline constexpr char maps_prefix[] = "maps.";

inline constexpr std::uint64_t magic = 0x32656c706d61734bULL;  // "Ksample2"

struct Record {
  std::uint64_t address = 0;  // of the instruction that was under way
  std::uint32_t thread = 0;
  std::uint32_t milliseconds = 0;  // since the start
};

struct Header {
  std::uint64_t magic = 0;
  std::uint32_t process = 0;
  std::uint32_t capacity = 0;            // records that there is room for
  std::uint32_t period_us = 0;           // processor time between two samples, as it was asked for
  std::atomic<std::uint32_t> count = 0;  // may be larger than the capacity: those were lost
  std::int64_t start_ns = 0;
  std::atomic<std::int64_t> last_ns = 0;    // of the last sample
  std::atomic<std::int64_t> cpu_ns = 0;     // that all threads had taken together by then
  std::atomic<std::int64_t> system_ns = 0;  // of that, in the kernel
  std::atomic<std::int64_t> faults = 0;     // pages that were given by then, on their first touch
  std::atomic<std::int64_t> resident_bytes = 0;  // at most, since the process began
};
static_assert(sizeof(Record) == 16);
static_assert(sizeof(Header) == 72);

}  // namespace kernelpro::sample
