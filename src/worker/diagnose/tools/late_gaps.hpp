// Times in which the GPU stood still because the host had not asked for the next thing yet, and
// why.
//
// What was asked for in time and started late waits on the GPU itself and is left out, and so is
// what a program does once: the time before the first and after the last kernel, in which it sets
// up and reads back, and waits and copies in between that no third step repeats.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/model/trace.hpp"
#include "worker/diagnose/tools/thresholds.hpp"

namespace kernelpro {

struct LateGap {
  enum class Reason {
    launching,   // the host was on its way to the next call
    waiting,     // it waited for the GPU when the GPU ran dry
    copying,     // it was in a copy that blocks
    allocating,  // it allocated or released memory
  };
  Reason reason = Reason::launching;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t next_ns = 0;   // how long the GPU worked then
  std::string call;           // that the host was in; empty: none
  bool before_first = false;  // what ended it was the first launch of its kernel

  [[nodiscard]] std::int64_t length() const { return end_ns - start_ns; }
};

struct GpuTime {
  std::int64_t span_ns = 0;          // from the first to the last kernel, less what is done once
  std::int64_t kernel_ns = 0;        // in which at least one kernel ran
  std::int64_t exposed_copy_ns = 0;  // in which the host's memory was copied and no kernel ran
  std::int64_t exposed_pageable_ns = 0;  // the part of it with memory that is not pinned
  std::vector<LateGap> late;             // by time
};

[[nodiscard]] GpuTime gpu_time(const Trace& trace);

// How much later the host comes for having been traced.
[[nodiscard]] double tracing_of_a_call(const Trace& trace, const Thresholds& limits);

// Why the trace cannot be used; empty: it can.
[[nodiscard]] std::string trace_problem(const std::optional<Trace>& trace);

}  // namespace kernelpro
