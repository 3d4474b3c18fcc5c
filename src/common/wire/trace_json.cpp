#include "common/wire/trace_json.hpp"

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/model/enum_names.hpp"
#include "common/wire/reader.hpp"
#include "common/wire/values.hpp"
#include "common/wire/writer.hpp"

namespace kernelpro {

namespace wire {

namespace {

using nlohmann::json;

constexpr std::int64_t trace_version = 1;

constexpr std::array<std::string_view, 4> copy_kinds = {"host_to_device", "device_to_host",
                                                        "device_to_device", "other"};
static_assert(copy_kinds.size() == static_cast<std::size_t>(CopyKind::other) + 1);

constexpr std::array<std::string_view, 7> call_kinds = {
    "launch", "copy", "fill", "synchronise", "allocate", "release", "other"};
static_assert(call_kinds.size() == static_cast<std::size_t>(CallKind::other) + 1);

// Gives each name a number, in the order of their first use.
class NumberedNames {
 public:
  std::int64_t number(const std::string& name) {
    const auto [at, fresh] = numbers_.try_emplace(name, std::ssize(list_));
    if (fresh) {
      list_.push_back(name);
    }
    return at->second;
  }

  [[nodiscard]] const std::vector<std::string>& list() const { return list_; }

 private:
  std::map<std::string, std::int64_t> numbers_;
  std::vector<std::string> list_;
};

template <typename Row, typename T>
json column(const std::vector<Row>& rows, T Row::* member) {
  return write_list(rows, [member](const Row& row) { return json(row.*member); });
}

json write_launches(const std::vector<TracedLaunch>& launches, NumberedNames& names) {
  const auto numbers = [&](std::string TracedLaunch::* member) {
    return write_list(
        launches, [&](const TracedLaunch& launch) { return json(names.number(launch.*member)); });
  };
  return {{"index", column(launches, &TracedLaunch::index)},
          {"name", numbers(&TracedLaunch::name)},
          {"module", numbers(&TracedLaunch::module)},
          {"context", column(launches, &TracedLaunch::context)},
          {"stream", column(launches, &TracedLaunch::stream)},
          {"correlation", column(launches, &TracedLaunch::correlation)},
          {"start_ns", column(launches, &TracedLaunch::start_ns)},
          {"end_ns", column(launches, &TracedLaunch::end_ns)},
          {"grid", column(launches, &TracedLaunch::grid)},
          {"block", column(launches, &TracedLaunch::block)},
          {"registers", column(launches, &TracedLaunch::registers)},
          {"static_shared_bytes", column(launches, &TracedLaunch::static_shared_bytes)},
          {"dynamic_shared_bytes", column(launches, &TracedLaunch::dynamic_shared_bytes)},
          {"local_bytes", column(launches, &TracedLaunch::local_bytes)}};
}

json write_copies(const std::vector<TracedCopy>& copies) {
  return {{"kind", write_list(copies,
                              [](const TracedCopy& copy) {
                                return json(enum_name(copy_kinds, copy.kind));
                              })},
          {"pageable", column(copies, &TracedCopy::pageable)},
          {"bytes", column(copies, &TracedCopy::bytes)},
          {"stream", column(copies, &TracedCopy::stream)},
          {"correlation", column(copies, &TracedCopy::correlation)},
          {"start_ns", column(copies, &TracedCopy::start_ns)},
          {"end_ns", column(copies, &TracedCopy::end_ns)}};
}

json write_fills(const std::vector<TracedFill>& fills) {
  return {{"bytes", column(fills, &TracedFill::bytes)},
          {"stream", column(fills, &TracedFill::stream)},
          {"correlation", column(fills, &TracedFill::correlation)},
          {"start_ns", column(fills, &TracedFill::start_ns)},
          {"end_ns", column(fills, &TracedFill::end_ns)}};
}

json write_calls(const std::vector<TracedCall>& calls, NumberedNames& names) {
  return {
      {"kind",
       write_list(calls,
                  [](const TracedCall& call) { return json(enum_name(call_kinds, call.kind)); })},
      {"name",
       write_list(calls, [&](const TracedCall& call) { return json(names.number(call.name)); })},
      {"thread", column(calls, &TracedCall::thread)},
      {"correlation", column(calls, &TracedCall::correlation)},
      {"start_ns", column(calls, &TracedCall::start_ns)},
      {"end_ns", column(calls, &TracedCall::end_ns)}};
}

// Rows that are written as columns of one length. The first column says how many there are.
template <typename Row>
class Columns {
 public:
  Columns(const Place& place, const std::vector<std::string>& names)
      : fields_(place), names_(&names) {}

  template <typename T>
  Columns& integer(const std::string& key, T Row::* member) {
    const Place place = fields_.at(key);
    const std::vector<std::int64_t> values = place.integers();
    if (fits(place, values.size())) {
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (!std::in_range<T>(values[i])) {
          place.complain("row " + std::to_string(i) + " has " + std::to_string(values[i]) +
                         ", which is out of range");
        }
        rows_[i].*member = static_cast<T>(values[i]);
      }
    }
    return *this;
  }

  // A column with the numbers of names.
  Columns& name(const std::string& key, std::string Row::* member) {
    const Place place = fields_.at(key);
    const std::vector<std::int64_t> values = place.integers();
    if (fits(place, values.size())) {
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (values[i] < 0 || values[i] >= std::ssize(*names_)) {
          place.complain("row " + std::to_string(i) + " has name " + std::to_string(values[i]) +
                         " of " + std::to_string(names_->size()));
          return *this;
        }
        rows_[i].*member = (*names_)[static_cast<std::size_t>(values[i])];
      }
    }
    return *this;
  }

  // A column of anything else, each item through `read`.
  template <typename T, typename Read>
  Columns& items(const std::string& key, T Row::* member, Read read) {
    const Place place = fields_.at(key);
    const std::vector<Place> found = place.items();
    if (fits(place, found.size())) {
      for (std::size_t i = 0; i < found.size(); ++i) {
        rows_[i].*member = read(found[i]);
      }
    }
    return *this;
  }

  [[nodiscard]] std::vector<Row> end() {
    fields_.end();
    return std::move(rows_);
  }

 private:
  bool fits(const Place& place, std::size_t size) {
    if (first_) {
      rows_.resize(size);
      first_ = false;
    }
    if (rows_.size() != size) {
      place.complain("the column has " + std::to_string(size) + " rows, the first has " +
                     std::to_string(rows_.size()));
    }
    return rows_.size() == size;
  }

  Fields fields_;
  const std::vector<std::string>* names_;
  std::vector<Row> rows_;
  bool first_ = true;
};

template <typename Enum, std::size_t N>
auto kind_of(const std::array<std::string_view, N>& names, std::string_view known) {
  return [&names, known](const Place& place) {
    return place.name([&](std::string_view name) { return find_enum<Enum>(names, name); }, known);
  };
}

std::vector<TracedLaunch> read_launches(const Place& place, const std::vector<std::string>& names) {
  return Columns<TracedLaunch>(place, names)
      .integer("index", &TracedLaunch::index)
      .name("name", &TracedLaunch::name)
      .name("module", &TracedLaunch::module)
      .integer("context", &TracedLaunch::context)
      .integer("stream", &TracedLaunch::stream)
      .integer("correlation", &TracedLaunch::correlation)
      .integer("start_ns", &TracedLaunch::start_ns)
      .integer("end_ns", &TracedLaunch::end_ns)
      .items("grid", &TracedLaunch::grid, read_extent)
      .items("block", &TracedLaunch::block, read_extent)
      .integer("registers", &TracedLaunch::registers)
      .integer("static_shared_bytes", &TracedLaunch::static_shared_bytes)
      .integer("dynamic_shared_bytes", &TracedLaunch::dynamic_shared_bytes)
      .integer("local_bytes", &TracedLaunch::local_bytes)
      .end();
}

std::vector<TracedCopy> read_copies(const Place& place, const std::vector<std::string>& names) {
  return Columns<TracedCopy>(place, names)
      .items(
          "kind", &TracedCopy::kind,
          kind_of<CopyKind>(copy_kinds, "host_to_device, device_to_host, device_to_device, other"))
      .items("pageable", &TracedCopy::pageable, [](const Place& item) { return item.truth(); })
      .integer("bytes", &TracedCopy::bytes)
      .integer("stream", &TracedCopy::stream)
      .integer("correlation", &TracedCopy::correlation)
      .integer("start_ns", &TracedCopy::start_ns)
      .integer("end_ns", &TracedCopy::end_ns)
      .end();
}

std::vector<TracedFill> read_fills(const Place& place, const std::vector<std::string>& names) {
  return Columns<TracedFill>(place, names)
      .integer("bytes", &TracedFill::bytes)
      .integer("stream", &TracedFill::stream)
      .integer("correlation", &TracedFill::correlation)
      .integer("start_ns", &TracedFill::start_ns)
      .integer("end_ns", &TracedFill::end_ns)
      .end();
}

std::vector<TracedCall> read_calls(const Place& place, const std::vector<std::string>& names) {
  return Columns<TracedCall>(place, names)
      .items("kind", &TracedCall::kind,
             kind_of<CallKind>(call_kinds,
                               "launch, copy, fill, synchronise, allocate, release, other"))
      .name("name", &TracedCall::name)
      .integer("thread", &TracedCall::thread)
      .integer("correlation", &TracedCall::correlation)
      .integer("start_ns", &TracedCall::start_ns)
      .integer("end_ns", &TracedCall::end_ns)
      .end();
}

}  // namespace

Extent read_extent(const Place& place) {
  const std::vector<std::int64_t> values = place.integers();
  if (values.size() != std::tuple_size_v<Extent>) {
    place.complain_expected("the three numbers [x, y, z]");
    return {};
  }
  return {values[0], values[1], values[2]};
}

Trace read_trace(const Place& place) {
  Fields fields(place);
  expect_version(fields, trace_version, "a trace");
  Trace trace;
  trace.origin = fields.at("origin").text();
  if (const auto architecture = fields.maybe("architecture")) {
    trace.architecture = architecture->text();
  }
  trace.complete = fields.at("complete").truth();
  if (const auto problem = fields.maybe("problem")) {
    trace.problem = problem->text();
  }
  trace.end_ns = fields.at("end_ns").integer();
  const std::vector<std::string> names = fields.at("names").texts();
  trace.launches = read_launches(fields.at("launches"), names);
  trace.copies = read_copies(fields.at("copies"), names);
  trace.fills = read_fills(fields.at("fills"), names);
  trace.calls = read_calls(fields.at("calls"), names);
  fields.end();
  return trace;
}

}  // namespace wire

nlohmann::json to_json(const Trace& trace) {
  using namespace wire;
  NumberedNames names;
  nlohmann::json json = {{"v", trace_version},
                         {"origin", write_text(trace.origin)},
                         {"complete", trace.complete},
                         {"end_ns", trace.end_ns},
                         {"launches", write_launches(trace.launches, names)},
                         {"copies", write_copies(trace.copies)},
                         {"fills", write_fills(trace.fills)},
                         {"calls", write_calls(trace.calls, names)}};
  json["names"] = write_texts(names.list());
  if (!trace.architecture.empty()) {
    json["architecture"] = write_text(trace.architecture);
  }
  if (!trace.problem.empty()) {
    json["problem"] = write_text(trace.problem);
  }
  return json;
}

Result<Trace> trace_from_json(const nlohmann::json& json) {
  return wire::read_document(json, wire::read_trace);
}

}  // namespace kernelpro
