#include "worker/diagnose/tools/late_gaps.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

namespace kernelpro {

namespace {

struct Span {
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::uint32_t correlation = 0;
};

using Spans = std::vector<Span>;

bool is_earlier(const Span& a, const Span& b) {
  return std::tie(a.start, a.end, a.correlation) < std::tie(b.start, b.end, b.correlation);
}

// The part of a record that lies in the traced time.
template <typename Record>
Span span_of(const Record& record, const Trace& trace) {
  const std::int64_t end = std::max<std::int64_t>(trace.end_ns, 0);
  const std::int64_t start = std::clamp<std::int64_t>(record.start_ns, 0, end);
  return {start, std::clamp(record.end_ns, start, end), record.correlation};
}

Span within(const Span& span, const Span& bounds) {
  const std::int64_t start = std::clamp(span.start, bounds.start, bounds.end);
  return {start, std::clamp(span.end, start, bounds.end), span.correlation};
}

template <typename Records>
void add_spans(Spans& spans, const Records& records, const Trace& trace) {
  for (const auto& record : records) {
    spans.push_back(span_of(record, trace));
  }
}

// In order and apart from each other; a span keeps the correlation of its first record.
Spans merged(Spans spans) {
  std::sort(spans.begin(), spans.end(), is_earlier);
  Spans out;
  for (const Span& span : spans) {
    if (!out.empty() && span.start <= out.back().end) {
      out.back().end = std::max(out.back().end, span.end);
    } else {
      out.push_back(span);
    }
  }
  return out;
}

std::int64_t length(const Spans& spans) {
  std::int64_t sum = 0;
  for (const Span& span : spans) {
    sum += span.end - span.start;
  }
  return sum;
}

// How much of `spans` lies outside of `others`; both in order and apart.
std::int64_t outside(const Spans& spans, const Spans& others) {
  std::int64_t covered = 0;
  std::size_t at = 0;
  for (const Span& span : spans) {
    while (at < others.size() && others[at].end <= span.start) {
      ++at;
    }
    for (std::size_t i = at; i < others.size() && others[i].start < span.end; ++i) {
      covered += std::min(others[i].end, span.end) - std::max(others[i].start, span.start);
    }
  }
  return length(spans) - covered;
}

// What is done in fewer steps is done once. A step has kernels: whatever lies between the same two
// kernels is one step, as the copies of three inputs are, or their allocations.
constexpr std::size_t least_steps = 3;

// In how many steps each kind of thing was done.
template <typename Kind>
class Steps {
 public:
  explicit Steps(const Spans& kernels) : kernels_(kernels) {}

  void note(const Kind& kind, std::int64_t time) { steps_[kind].insert(step_at(time)); }

  [[nodiscard]] bool is_once(const Kind& kind) const {
    const auto found = steps_.find(kind);
    return found == steps_.end() || found->second.size() < least_steps;
  }

 private:
  // The number of kernels, or groups of them side by side, that had begun.
  [[nodiscard]] std::ptrdiff_t step_at(std::int64_t time) const {
    return std::upper_bound(kernels_.begin(), kernels_.end(), time,
                            [](std::int64_t when, const Span& span) { return when < span.start; }) -
           kernels_.begin();
  }

  const Spans& kernels_;
  std::map<Kind, std::set<std::ptrdiff_t>> steps_;
};

bool is_host_copy(const TracedCopy& copy) {
  return copy.kind == CopyKind::host_to_device || copy.kind == CopyKind::device_to_host;
}

// Copies of the host's memory in several steps and in few, the part of them between the kernels.
struct HostCopies {
  Spans all;
  Spans pageable;
  Spans once;
};

HostCopies host_copies(const Trace& trace, const Spans& kernels, const Span& working) {
  using Kind = std::tuple<CopyKind, std::int64_t>;
  const auto kind_of = [](const TracedCopy& copy) { return Kind(copy.kind, copy.bytes); };
  Steps<Kind> steps(kernels);
  for (const TracedCopy& copy : trace.copies) {
    steps.note(kind_of(copy), span_of(copy, trace).start);
  }
  HostCopies copies;
  for (const TracedCopy& copy : trace.copies) {
    const Span span = within(span_of(copy, trace), working);
    if (!is_host_copy(copy) || span.start == span.end) {
      continue;
    }
    if (steps.is_once(kind_of(copy))) {
      copies.once.push_back(span);
      continue;
    }
    copies.all.push_back(span);
    if (copy.pageable) {
      copies.pageable.push_back(span);
    }
  }
  return {merged(std::move(copies.all)), merged(std::move(copies.pageable)),
          merged(std::move(copies.once))};
}

// The calls of the host, found by what they asked for and by what a thread was in at a time.
class HostCalls {
 public:
  explicit HostCalls(const Trace& trace) {
    for (const TracedCall& call : trace.calls) {
      by_correlation_.emplace(call.correlation, &call);
      by_thread_[call.thread].push_back(&call);
    }
    for (auto& [thread, calls] : by_thread_) {
      std::sort(calls.begin(), calls.end(), [](const TracedCall* a, const TracedCall* b) {
        return std::tie(a->start_ns, a->end_ns) < std::tie(b->start_ns, b->end_ns);
      });
    }
  }

  // Null when the call is not known.
  [[nodiscard]] const TracedCall* asking(std::uint32_t correlation) const {
    const auto found = by_correlation_.find(correlation);
    return found == by_correlation_.end() ? nullptr : found->second;
  }

  // The last call that the thread began before `time`, if it was still in it; null otherwise.
  [[nodiscard]] const TracedCall* under_way(std::uint32_t thread, std::int64_t time) const {
    const auto& calls = by_thread_.at(thread);
    const auto after = std::lower_bound(
        calls.begin(), calls.end(), time,
        [](const TracedCall* call, std::int64_t when) { return call->start_ns < when; });
    if (after == calls.begin() || (*std::prev(after))->end_ns < time) {
      return nullptr;
    }
    return *std::prev(after);
  }

 private:
  std::unordered_map<std::uint32_t, const TracedCall*> by_correlation_;
  std::map<std::uint32_t, std::vector<const TracedCall*>> by_thread_;
};

LateGap::Reason reason_of(const TracedCall* in) {
  if (in == nullptr) {
    return LateGap::Reason::launching;
  }
  switch (in->kind) {
    case CallKind::synchronize:
      return LateGap::Reason::waiting;
    case CallKind::copy:
      return LateGap::Reason::copying;
    case CallKind::allocate:
    case CallKind::release:
      return LateGap::Reason::allocating;
    default:
      return LateGap::Reason::launching;
  }
}

// The launches that were the first of their kernel, by what asked for them.
std::set<std::uint32_t> first_launches(const Trace& trace) {
  std::map<std::pair<std::string, std::string>, const TracedLaunch*> first;
  for (const TracedLaunch& launch : trace.launches) {
    const TracedLaunch*& known = first[{launch.module, launch.name}];
    if (known == nullptr || launch.start_ns < known->start_ns) {
      known = &launch;
    }
  }
  std::set<std::uint32_t> out;
  for (const auto& [kernel, launch] : first) {
    out.insert(launch->correlation);
  }
  return out;
}

std::vector<LateGap> late_gaps(const Trace& trace, const Spans& busy, const Span& working) {
  const HostCalls host(trace);
  const std::set<std::uint32_t> firsts = first_launches(trace);
  std::vector<LateGap> gaps;
  for (std::size_t i = 1; i < busy.size(); ++i) {
    const std::int64_t start = busy[i - 1].end;
    if (start < working.start || busy[i].start > working.end) {
      continue;
    }
    const TracedCall* asking = host.asking(busy[i].correlation);
    if (asking == nullptr || asking->end_ns <= start) {
      continue;  // asked for in time, or not known
    }
    const TracedCall* in =
        asking->start_ns < start ? asking : host.under_way(asking->thread, start);
    gaps.push_back({reason_of(in), start, busy[i].start, busy[i].end - busy[i].start,
                    in == nullptr ? "" : in->name, firsts.contains(busy[i].correlation)});
  }
  return gaps;
}

// Takes out the waits of things done once; returns how long they were. Launching is no wait.
std::int64_t drop_single_waits(const Spans& kernels, std::vector<LateGap>& gaps) {
  using Kind = std::pair<LateGap::Reason, std::string>;
  const auto kind_of = [](const LateGap& gap) { return Kind(gap.reason, gap.call); };
  Steps<Kind> steps(kernels);
  for (const LateGap& gap : gaps) {
    steps.note(kind_of(gap), gap.start_ns);
  }
  std::int64_t dropped = 0;
  std::erase_if(gaps, [&](const LateGap& gap) {
    const bool once = gap.reason != LateGap::Reason::launching && steps.is_once(kind_of(gap));
    dropped += once ? gap.length() : 0;
    return once;
  });
  return dropped;
}

}  // namespace

GpuTime gpu_time(const Trace& trace) {
  Spans kernels;
  add_spans(kernels, trace.launches, trace);
  Spans all = kernels;
  add_spans(all, trace.copies, trace);
  add_spans(all, trace.fills, trace);
  kernels = merged(std::move(kernels));
  all = merged(std::move(all));
  GpuTime time;
  if (kernels.empty()) {
    return time;
  }
  const Span working = {kernels.front().start, kernels.back().end, 0};
  const HostCopies copies = host_copies(trace, kernels, working);
  time.kernel_ns = length(kernels);
  time.exposed_copy_ns = outside(copies.all, kernels);
  time.exposed_pageable_ns = outside(copies.pageable, kernels);
  time.late = late_gaps(trace, all, working);
  const std::int64_t once = drop_single_waits(kernels, time.late) + outside(copies.once, kernels);
  time.span_ns = working.end - working.start - once;
  return time;
}

double tracing_of_a_call(const Trace& trace, const Thresholds& limits) {
  return trace.origin == "cupti" ? limits.traced_call_ns : 0;
}

std::string trace_problem(const std::optional<Trace>& trace) {
  if (!trace) {
    return "no trace of the program";
  }
  if (!trace->complete) {
    return trace->problem.empty() ? "the trace is not complete"
                                  : "the trace is not complete (" + trace->problem + ")";
  }
  if (trace->launches.empty()) {
    return "the trace has no kernel";
  }
  return trace->calls.empty() ? "the trace has no calls of the host" : "";
}

}  // namespace kernelpro
