#include "common/model/timeline.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "common/model/enum_names.hpp"

namespace kernelpro {
namespace {

constexpr std::array<std::string_view, 5> host_works = {"launching", "synchronizing", "copying",
                                                        "allocating", "elsewhere"};

struct Span {
  std::int64_t start = 0;
  std::int64_t end = 0;

  [[nodiscard]] std::int64_t length() const { return end - start; }
};

using Spans = std::vector<Span>;

// Times come from outside: their sum stays at the largest number instead of leaving it.
std::int64_t sum(std::int64_t a, std::int64_t b) {
  std::int64_t total = 0;
  return __builtin_add_overflow(a, b, &total) ? std::numeric_limits<std::int64_t>::max() : total;
}

// The part of a record that lies between 0 and `limit`.
template <typename Record>
Span span_of(const Record& record, std::int64_t limit) {
  const std::int64_t start = std::clamp<std::int64_t>(record.start_ns, 0, limit);
  return {start, std::clamp(record.end_ns, start, limit)};
}

// The times that are in any of the spans, in order and apart from each other.
Spans merged(Spans spans) {
  std::sort(spans.begin(), spans.end(),
            [](const Span& a, const Span& b) { return a.start < b.start; });
  Spans out;
  for (const Span& span : spans) {
    if (span.length() == 0) {
      continue;
    }
    if (!out.empty() && span.start <= out.back().end) {
      out.back().end = std::max(out.back().end, span.end);
    } else {
      out.push_back(span);
    }
  }
  return out;
}

template <typename Records>
void add_spans(Spans& spans, const Records& records, std::int64_t limit) {
  for (const auto& record : records) {
    spans.push_back(span_of(record, limit));
  }
}

Spans busy_spans(const Trace& trace) {
  Spans spans;
  spans.reserve(trace.launches.size() + trace.copies.size() + trace.fills.size());
  add_spans(spans, trace.launches, trace.end_ns);
  add_spans(spans, trace.copies, trace.end_ns);
  add_spans(spans, trace.fills, trace.end_ns);
  return merged(std::move(spans));
}

HostWork host_work(CallKind kind) {
  switch (kind) {
    case CallKind::launch:
    case CallKind::fill:
      return HostWork::launching;
    case CallKind::synchronize:
      return HostWork::synchronizing;
    case CallKind::copy:
      return HostWork::copying;
    case CallKind::allocate:
    case CallKind::release:
      return HostWork::allocating;
    case CallKind::other:
      break;
  }
  return HostWork::elsewhere;
}

std::vector<Gap> gaps_between(const Spans& busy, std::int64_t end) {
  std::vector<Gap> gaps;
  std::int64_t from = 0;
  for (const Span& span : busy) {
    if (span.start > from) {
      gaps.push_back({from, span.start});
    }
    from = span.end;
  }
  if (end > from) {
    gaps.push_back({from, end});
  }
  return gaps;
}

// How much of each gap lies in one of the spans. Both are in order and apart from each other.
std::vector<std::int64_t> covered(const std::vector<Gap>& gaps, const Spans& spans) {
  std::vector<std::int64_t> amounts(gaps.size());
  std::size_t at = 0;
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    while (at < spans.size() && spans[at].end <= gaps[i].start_ns) {
      ++at;
    }
    for (std::size_t j = at; j < spans.size() && spans[j].start < gaps[i].end_ns; ++j) {
      amounts[i] +=
          std::min(spans[j].end, gaps[i].end_ns) - std::max(spans[j].start, gaps[i].start_ns);
    }
  }
  return amounts;
}

// Gives each gap the kind of work that covers most of it.
void explain(std::vector<Gap>& gaps, const Trace& trace) {
  std::map<HostWork, Spans> by_work;
  Spans known;
  for (const TracedCall& call : trace.calls) {
    if (const HostWork work = host_work(call.kind); work != HostWork::elsewhere) {
      const Span span = span_of(call, trace.end_ns);
      by_work[work].push_back(span);
      known.push_back(span);
    }
  }
  std::vector<std::int64_t> most = covered(gaps, merged(std::move(known)));
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    most[i] = gaps[i].end_ns - gaps[i].start_ns - most[i];
  }
  for (auto& [work, spans] : by_work) {
    const std::vector<std::int64_t> amounts = covered(gaps, merged(std::move(spans)));
    for (std::size_t i = 0; i < gaps.size(); ++i) {
      if (amounts[i] > most[i]) {
        most[i] = amounts[i];
        gaps[i].host = work;
      }
    }
  }
}

struct Sample {
  std::int64_t value = 0;
  std::size_t index = 0;

  bool operator<(const Sample& other) const {
    return std::tie(value, index) < std::tie(other.value, other.index);
  }
};

// The lower one of two in the middle.
Sample median(std::vector<Sample> samples) {
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>((samples.size() - 1) / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

KernelSum sum_up(const Trace& trace, const std::vector<Sample>& durations) {
  const Sample typical = median(durations);
  const TracedLaunch& launch = trace.launches[typical.index];
  KernelSum out;
  out.name = launch.name;
  out.module = launch.module;
  out.registers = launch.registers;
  out.static_shared_bytes = launch.static_shared_bytes;
  out.count = static_cast<std::int64_t>(durations.size());
  for (const Sample& duration : durations) {
    out.total_ns = sum(out.total_ns, duration.value);
  }
  out.median_ns = typical.value;
  out.typical = typical.index;
  out.launch = launch.index;
  return out;
}

void add_kernels(Timeline& out, const Trace& trace) {
  using Key = std::tuple<std::string_view, std::string_view, int, std::int64_t>;
  std::map<Key, std::vector<Sample>> groups;
  for (std::size_t i = 0; i < trace.launches.size(); ++i) {
    const TracedLaunch& launch = trace.launches[i];
    groups[{launch.name, launch.module, launch.registers, launch.static_shared_bytes}].push_back(
        {span_of(launch, trace.end_ns).length(), i});
  }
  for (const auto& [key, durations] : groups) {
    out.kernels.push_back(sum_up(trace, durations));
    out.kernel_ns = sum(out.kernel_ns, out.kernels.back().total_ns);
  }
  for (KernelSum& kernel : out.kernels) {
    if (out.kernel_ns > 0) {
      kernel.share = static_cast<double>(kernel.total_ns) / static_cast<double>(out.kernel_ns);
    }
  }
  std::sort(out.kernels.begin(), out.kernels.end(), [](const KernelSum& a, const KernelSum& b) {
    return std::tie(b.total_ns, a.name, a.module, a.launch) <
           std::tie(a.total_ns, b.name, b.module, b.launch);
  });
}

void add_copies(Timeline& out, const Trace& trace) {
  std::map<std::pair<CopyKind, bool>, CopySum> groups;
  for (const TracedCopy& copy : trace.copies) {
    CopySum& group = groups[{copy.kind, copy.pageable}];
    group.kind = copy.kind;
    group.pageable = copy.pageable;
    ++group.count;
    group.bytes = sum(group.bytes, std::max<std::int64_t>(copy.bytes, 0));
    group.total_ns = sum(group.total_ns, span_of(copy, trace.end_ns).length());
  }
  for (const auto& [key, group] : groups) {
    out.copies.push_back(group);
  }
  std::sort(out.copies.begin(), out.copies.end(), [](const CopySum& a, const CopySum& b) {
    return std::tie(b.total_ns, a.kind, a.pageable) < std::tie(a.total_ns, b.kind, b.pageable);
  });
}

void count(CallSum& calls, std::int64_t ns) {
  ++calls.count;
  calls.total_ns = sum(calls.total_ns, ns);
}

void add_calls(Timeline& out, const Trace& trace) {
  std::vector<Sample> launching;
  for (const TracedCall& call : trace.calls) {
    const std::int64_t ns = span_of(call, trace.end_ns).length();
    if (call.kind == CallKind::launch) {
      count(out.launching, ns);
      launching.push_back({ns});
    } else if (call.kind == CallKind::synchronize) {
      count(out.synchronizing, ns);
    } else if (call.kind == CallKind::allocate || call.kind == CallKind::release) {
      count(out.allocating, ns);
    }
  }
  if (!launching.empty()) {
    out.median_launch_ns = median(std::move(launching)).value;
  }
}

void add_queueing(Timeline& out, const Trace& trace) {
  std::unordered_map<std::uint32_t, std::int64_t> call_ends;
  for (const TracedCall& call : trace.calls) {
    if (call.kind == CallKind::launch) {
      call_ends.emplace(call.correlation, span_of(call, trace.end_ns).end);
    }
  }
  std::vector<Sample> delays;
  for (const TracedLaunch& launch : trace.launches) {
    if (const auto call = call_ends.find(launch.correlation); call != call_ends.end()) {
      const std::int64_t start = span_of(launch, trace.end_ns).start;
      delays.push_back({std::max<std::int64_t>(start - call->second, 0)});
    }
  }
  if (!delays.empty()) {
    out.median_queue_ns = median(std::move(delays)).value;
  }
}

}  // namespace

std::string_view name_of(HostWork work) {
  return enum_name(host_works, work);
}

Timeline make_timeline(const Trace& trace) {
  Timeline out;
  if (trace.end_ns <= 0) {
    return out;
  }
  out.span_ns = trace.end_ns;
  const Spans busy = busy_spans(trace);
  for (const Span& span : busy) {
    out.busy_ns += span.length();
  }
  out.idle_ns = out.span_ns - out.busy_ns;
  out.gaps = gaps_between(busy, trace.end_ns);
  explain(out.gaps, trace);
  add_kernels(out, trace);
  add_copies(out, trace);
  add_calls(out, trace);
  add_queueing(out, trace);
  return out;
}

}  // namespace kernelpro
