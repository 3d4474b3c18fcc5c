#include "worker/profile/recording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "worker/profile/call_kind.hpp"

namespace kernelpro {
namespace {

// Times from `begin` to `end`; the calls in it and the work they asked for.
struct Part {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

using Correlations = std::unordered_map<std::uint32_t, std::uint32_t>;
using CallStarts = std::unordered_map<std::uint32_t, std::int64_t>;

template <typename Records>
void sort_by_start(Records& records) {
  std::sort(records.begin(), records.end(), [](const auto& a, const auto& b) {
    return std::tie(a.start_ns, a.end_ns, a.correlation) <
           std::tie(b.start_ns, b.end_ns, b.correlation);
  });
}

// A profiler counts launches as they were asked for, not as they ran.
void number_launches(std::vector<TracedLaunch>& launches) {
  std::sort(launches.begin(), launches.end(), [](const TracedLaunch& a, const TracedLaunch& b) {
    return std::tie(a.correlation, a.start_ns, a.end_ns) <
           std::tie(b.correlation, b.start_ns, b.end_ns);
  });
  std::int64_t index = 0;
  for (TracedLaunch& launch : launches) {
    launch.index = index++;
  }
}

// Leaves the calls that are in no other call of their thread. Returns for those left out the
// correlation of the call they were in.
Correlations keep_outermost(std::vector<TracedCall>& calls) {
  std::sort(calls.begin(), calls.end(), [](const TracedCall& a, const TracedCall& b) {
    return std::tie(a.start_ns, b.end_ns, a.correlation) <
           std::tie(b.start_ns, a.end_ns, b.correlation);
  });
  Correlations outer;
  std::unordered_map<std::uint32_t, std::size_t> last_of;  // by thread, in `kept`
  std::vector<TracedCall> kept;
  for (TracedCall& call : calls) {
    const auto [last, fresh] = last_of.try_emplace(call.thread, kept.size());
    if (!fresh && call.end_ns <= kept[last->second].end_ns) {
      outer.emplace(call.correlation, kept[last->second].correlation);
      continue;
    }
    last->second = kept.size();
    kept.push_back(std::move(call));
  }
  calls = std::move(kept);
  return outer;
}

template <typename Records>
void correlate(Records& records, const Correlations& outer) {
  for (auto& record : records) {
    if (const auto found = outer.find(record.correlation); found != outer.end()) {
      record.correlation = found->second;
    }
  }
}

template <typename Records>
std::size_t drop_without_time(Records& records) {
  return std::erase_if(records, [](const auto& record) { return record.start_ns == no_time; });
}

void add_problem(std::string& problem, const std::string& text) {
  problem += (problem.empty() ? "" : "; ") + text;
}

void put_in_order(Recording& all) {
  number_launches(all.launches);
  const std::size_t timeless = drop_without_time(all.launches) + drop_without_time(all.copies) +
                               drop_without_time(all.fills);
  drop_without_time(all.calls);
  if (timeless > 0) {
    add_problem(all.problem, fmt::format("{} records have no times", timeless));
  }
  const Correlations outer = keep_outermost(all.calls);
  correlate(all.launches, outer);
  correlate(all.copies, outer);
  correlate(all.fills, outer);
  sort_by_start(all.launches);
  sort_by_start(all.copies);
  sort_by_start(all.fills);
}

CallStarts starts_of(const std::vector<TracedCall>& calls) {
  CallStarts starts;
  for (const TracedCall& call : calls) {
    starts.emplace(call.correlation, call.start_ns);
  }
  return starts;
}

template <typename Record>
std::int64_t asked_at(const Record& record, const CallStarts& starts) {
  const auto found = starts.find(record.correlation);
  return found == starts.end() ? record.start_ns : found->second;
}

template <typename Records>
void widen(Part& part, const Records& records, const CallStarts& starts) {
  for (const auto& record : records) {
    part.begin = std::min({part.begin, record.start_ns, asked_at(record, starts)});
    part.end = std::max(part.end, record.end_ns);
  }
}

// From the first work to the last; without any, from the first call to the last.
Part whole_part(const Recording& all, const CallStarts& starts) {
  constexpr Part nothing = {latest_time, -latest_time};
  Part part = nothing;
  widen(part, all.launches, starts);
  widen(part, all.copies, starts);
  widen(part, all.fills, starts);
  if (part.begin > part.end) {
    widen(part, all.calls, {});
  }
  if (part.begin > part.end) {
    return {};
  }
  // Something of no duration at its end is in it too.
  return {part.begin, std::max(part.end, part.begin + 1)};
}

std::vector<Part> profiled_parts(const std::vector<TracedCall>& calls) {
  std::vector<Part> parts;
  bool open = false;
  for (const TracedCall& call : calls) {
    if (!open && starts_profiling(call.name)) {
      parts.push_back({call.end_ns, latest_time});
      open = true;
    } else if (open && stops_profiling(call.name)) {
      parts.back().end = std::max(parts.back().begin, call.start_ns);
      open = false;
    }
  }
  return parts;
}

// The part that has `time`, among parts in order and apart from each other; null: none.
const Part* part_with(const std::vector<Part>& parts, std::int64_t time) {
  auto after = std::upper_bound(parts.begin(), parts.end(), time,
                                [](std::int64_t at, const Part& part) { return at < part.begin; });
  return after != parts.begin() && time < std::prev(after)->end ? &*std::prev(after) : nullptr;
}

// Gives each record to the trace of the part it was asked for in, and counts its times from there.
template <typename Record>
void distribute(std::vector<Record> records, const std::vector<Part>& parts,
                const CallStarts& starts, std::vector<Trace>& traces,
                std::vector<Record> Trace::* place) {
  for (Record& record : records) {
    const Part* part = part_with(parts, asked_at(record, starts));
    if (part == nullptr) {
      continue;
    }
    record.start_ns -= part->begin;
    record.end_ns -= part->begin;
    Trace& trace = traces[static_cast<std::size_t>(part - parts.data())];
    // What was asked for in a part may run on after it.
    trace.end_ns = std::max(trace.end_ns, record.end_ns);
    (trace.*place).push_back(std::move(record));
  }
}

std::vector<Trace> cut(Recording all, const std::vector<Part>& parts, const CallStarts& starts) {
  std::vector<Trace> traces(parts.size());
  distribute(std::move(all.calls), parts, {}, traces, &Trace::calls);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    // A call may be longer than its part, a part without end is as long as what is in it.
    if (parts[i].end < latest_time) {
      traces[i].end_ns = parts[i].end - parts[i].begin;
    }
    traces[i].origin = all.origin;
    traces[i].architecture = all.architecture;
    traces[i].problem = all.problem;
    traces[i].complete = all.problem.empty();
  }
  distribute(std::move(all.launches), parts, starts, traces, &Trace::launches);
  distribute(std::move(all.copies), parts, starts, traces, &Trace::copies);
  distribute(std::move(all.fills), parts, starts, traces, &Trace::fills);
  return traces;
}

}  // namespace

std::vector<Trace> traces_of(Recording recording) {
  put_in_order(recording);
  const CallStarts starts = starts_of(recording.calls);
  std::vector<Part> parts = profiled_parts(recording.calls);
  if (parts.empty()) {
    parts.push_back(whole_part(recording, starts));
  }
  return cut(std::move(recording), parts, starts);
}

Trace whole_trace_of(Recording recording) {
  put_in_order(recording);
  const CallStarts starts = starts_of(recording.calls);
  const std::vector<Part> parts = {whole_part(recording, starts)};
  return cut(std::move(recording), parts, starts).front();
}

}  // namespace kernelpro
