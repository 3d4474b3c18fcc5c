#include "common/model/slurm_place.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>
#include <vector>

#include "common/base/duration.hpp"

namespace kernelpro {

namespace {

constexpr int most_workers = 1000;
constexpr double most_seconds = 30.0 * 24 * 3600;

constexpr std::array<std::string_view, 12> passed_on = {
    "partition", "account", "qos",         "constraint",    "time", "gres",
    "nodelist",  "exclude", "reservation", "cpus-per-task", "mem",  "licenses"};
constexpr std::array<std::string_view, 5> ours = {"count", "worker", "wait", "idle", "shared"};

Error refused(const std::string& what) {
  return make_error(ErrorKind::bad_input, what, "slurm");
}

std::string known_names() {
  std::string names;
  const auto add = [&names](std::string_view name) {
    names += (names.empty() ? "" : ", ") + std::string(name);
  };
  std::ranges::for_each(passed_on, add);
  std::ranges::for_each(ours, add);
  return names;
}

// The words between commas, with those joined that belong together.
std::vector<std::string> assignments_of(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string word(text.substr(0, comma));
    if (out.empty() || word == "shared" || word.find('=') != std::string::npos) {
      out.push_back(word);
    } else {
      out.back() += "," + word;
    }
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  return out;
}

Status take_count(const std::string& value, int& count) {
  const auto [end, failed] = std::from_chars(value.data(), value.data() + value.size(), count);
  const bool whole = failed == std::errc() && end == value.data() + value.size();
  return whole && count >= 1 && count <= most_workers
             ? Status()
             : Status(refused("count is a number from 1 to " + std::to_string(most_workers) +
                              ", found \"" + value + "\""));
}

Status take_seconds(const std::string& name, const std::string& value, std::int64_t& seconds) {
  const std::optional<double> read = parse_duration(value);
  if (!read || *read < 0 || *read > most_seconds) {
    return refused(name + " is a time of at most 30d, as 60, 5m or 1h30m, found \"" + value + "\"");
  }
  seconds = std::llround(*read);
  return {};
}

bool is_printable(const std::string& value) {
  return std::ranges::all_of(value, [](char one) { return one >= ' ' && one != 0x7f; });
}

Status take(const std::string& name, const std::string& value, SlurmPlaces& out) {
  if (name == "shared") {
    out.place.shared = true;
    return value.empty() ? Status() : refused("shared has no value");
  }
  if (std::ranges::find(ours, name) == ours.end() &&
      std::ranges::find(passed_on, name) == passed_on.end()) {
    return refused("there is no \"" + name + "\"; there are " + known_names());
  }
  if (value.empty() || !is_printable(value)) {
    return refused(name + " needs a value, as in " + name + "=VALUE");
  }
  if (name == "count") {
    return take_count(value, out.count);
  }
  if (name == "wait" || name == "idle") {
    return take_seconds(name, value,
                        name == "wait" ? out.place.wait_seconds : out.place.idle_seconds);
  }
  if (name == "worker") {
    out.place.worker = value;
  } else {
    out.place.options[name] = value;
  }
  return {};
}

}  // namespace

Result<SlurmPlaces> parse_slurm_places(std::string_view text) {
  SlurmPlaces out;
  std::set<std::string> seen;
  for (const std::string& assignment : assignments_of(text)) {
    const std::size_t equals = assignment.find('=');
    const std::string name = assignment.substr(0, equals);
    if (!seen.insert(name).second) {
      return refused(name + " is given twice");
    }
    KP_TRY(take(name, equals == std::string::npos ? "" : assignment.substr(equals + 1), out));
  }
  return out;
}

std::string text_of(const SlurmPlaces& places) {
  const SlurmPlace& place = places.place;
  std::string text;
  const auto add = [&text](const std::string& word) { text += (text.empty() ? "" : ",") + word; };
  for (const auto& [name, value] : place.options) {
    add(name + "=" + value);
  }
  if (!place.worker.empty()) {
    add("worker=" + place.worker);
  }
  if (place.wait_seconds != SlurmPlace::default_wait) {
    add("wait=" + std::to_string(place.wait_seconds));
  }
  if (place.idle_seconds != SlurmPlace::default_idle) {
    add("idle=" + std::to_string(place.idle_seconds));
  }
  if (place.shared) {
    add("shared");
  }
  if (places.count > 1) {
    add("count=" + std::to_string(places.count));
  }
  return text;
}

}  // namespace kernelpro
