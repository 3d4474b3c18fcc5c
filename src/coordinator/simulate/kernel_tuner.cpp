#include "coordinator/simulate/kernel_tuner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

namespace kernelpro {

namespace {

using Json = nlohmann::json;

Error bad_cache(std::string what, std::string where = {}) {
  return make_error(ErrorKind::bad_input, std::move(what), std::move(where));
}

std::string value_text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

bool is_scalar(const Json& value) {
  return value.is_number() || value.is_string() || value.is_boolean();
}

// Numbers in their order; anything else has none. `true` and `false` are two names.
Result<TuneParameter> parameter_of(const std::string& name, std::vector<Json> values) {
  TuneParameter parameter;
  parameter.name = name;
  if (!std::all_of(values.begin(), values.end(), is_scalar)) {
    return bad_cache("a value is neither number, text nor boolean", name);
  }
  parameter.ordinal = std::all_of(values.begin(), values.end(),
                                  [](const Json& value) { return value.is_number(); });
  if (parameter.ordinal) {
    std::sort(values.begin(), values.end(), [](const Json& one, const Json& other) {
      return one.get<double>() < other.get<double>();
    });
  }
  for (const Json& value : values) {
    parameter.values.push_back(value_text(value));
  }
  return parameter;
}

// Looks up the places of values.
class Values {
 public:
  explicit Values(const std::vector<TuneParameter>& parameters) {
    for (const TuneParameter& one : parameters) {
      auto& places = axes_.emplace_back(one.name, std::map<std::string, std::size_t>()).second;
      for (const std::string& value : one.values) {
        places.emplace(value, places.size());
      }
    }
  }

  [[nodiscard]] Result<std::vector<std::size_t>> places(const Json& entry) const {
    std::vector<std::size_t> found;
    for (const auto& [name, places] : axes_) {
      const auto value = entry.find(name);
      if (value == entry.end()) {
        return bad_cache(fmt::format("the parameter \"{}\" is missing", name));
      }
      const auto place = places.find(value_text(*value));
      if (place == places.end()) {
        return bad_cache(fmt::format("{} is {}, which is none of its values", name, value->dump()));
      }
      found.push_back(place->second);
    }
    return found;
  }

 private:
  std::vector<std::pair<std::string, std::map<std::string, std::size_t>>> axes_;
};

// What either form calls a failure.
std::optional<Outcome> failure_named(const std::string& name) {
  static const std::map<std::string, Outcome> known = {
      {"CompilationFailedConfig", Outcome::build_failed},
      {"RuntimeFailedConfig", Outcome::launch_failed},
      {"InvalidConfig", Outcome::build_failed},
      {"compile", Outcome::build_failed},
      {"constraints", Outcome::build_failed},
      {"runtime", Outcome::launch_failed},
      {"timeout", Outcome::timed_out},
      {"correctness", Outcome::incorrect},
  };
  const auto found = known.find(name);
  return found == known.end() ? std::nullopt : std::optional(found->second);
}

Result<Recorded> failed(const Json& name) {
  const std::optional<Outcome> outcome =
      name.is_string() ? failure_named(name.get<std::string>()) : std::nullopt;
  if (!outcome) {
    return bad_cache(fmt::format("{} is neither a time nor a failure that is known", name.dump()));
  }
  return Recorded{*outcome, {}};
}

// The rounds where they were kept, otherwise their mean alone.
Result<Recorded> passed(const Json& time, const Json* rounds) {
  Recorded recorded;
  if (rounds != nullptr) {
    const bool numbers =
        rounds->is_array() && std::all_of(rounds->begin(), rounds->end(),
                                          [](const Json& one) { return one.is_number(); });
    if (!numbers) {
      return bad_cache("its rounds are no list of numbers");
    }
    rounds->get_to(recorded.rounds);
  }
  if (recorded.rounds.empty()) {
    recorded.rounds.push_back(time.get<double>());
  }
  return recorded;
}

const Json* member(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

Result<Recorded> cached_result(const Json& entry) {
  if (const Json* error = member(entry, "__error__"); error != nullptr) {
    return failed(*error);
  }
  const Json* time = member(entry, "time");
  if (time == nullptr) {
    return bad_cache("it has no \"time\"");
  }
  return time->is_number() ? passed(*time, member(entry, "times")) : failed(*time);
}

Result<std::vector<TuneParameter>> cached_parameters(const Json& json) {
  const Json& lists = json["tune_params"];
  if (!lists.is_object()) {
    return bad_cache("\"tune_params\" is no object");
  }
  std::vector<TuneParameter> parameters;
  for (const auto& [name, values] : lists.items()) {
    if (!values.is_array()) {
      return bad_cache("the values of a parameter are no list", name);
    }
    KP_LET(TuneParameter parameter, parameter_of(name, values.get<std::vector<Json>>()));
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

Status check_cache(const Json& json) {
  if (!json["cache"].is_object()) {
    return bad_cache("\"cache\" is no object");
  }
  const Json* version = member(json, "schema_version");
  if (version != nullptr && !value_text(*version).starts_with("1.")) {
    return bad_cache(
        fmt::format("a cache of version {}; known are 1.x and those without", version->dump()));
  }
  const Json* objective = member(json, "objective");
  if (objective != nullptr && *objective != "time") {
    return bad_cache(fmt::format("its objective is {}; expected \"time\"", objective->dump()));
  }
  return {};
}

Result<Landscape> from_cache(const Json& json, std::string name) {
  KP_TRY(check_cache(json));
  KP_LET(std::vector<TuneParameter> parameters, cached_parameters(json));
  const Values values(parameters);
  std::vector<RecordedAt> programs;
  for (const auto& [key, entry] : json["cache"].items()) {
    if (!entry.is_object()) {
      return bad_cache("the entry is no object", key);
    }
    Result<std::vector<std::size_t>> places = values.places(entry);
    Result<Recorded> recorded = cached_result(entry);
    if (!places || !recorded) {
      return bad_cache((places ? recorded.error() : places.error()).text(), key);
    }
    programs.push_back({std::move(*places), std::move(*recorded)});
  }
  return make_landscape(std::move(name), std::move(parameters), std::move(programs));
}

const Json* measured_time(const Json& result) {
  const Json* all = member(result, "measurements");
  if (all == nullptr || !all->is_array()) {
    return nullptr;
  }
  for (const Json& one : *all) {
    if (one.is_object() && one.contains("name") && one["name"] == "time" && one.contains("value")) {
      return &one["value"];
    }
  }
  return nullptr;
}

Result<Recorded> listed_result(const Json& result) {
  const Json* invalidity = member(result, "invalidity");
  if (invalidity == nullptr) {
    return bad_cache("it has no \"invalidity\"");
  }
  if (*invalidity != "correct") {
    return failed(*invalidity);
  }
  const Json* time = measured_time(result);
  if (time == nullptr || !time->is_number()) {
    return bad_cache("it is correct and has no measurement \"time\"");
  }
  const Json* times = member(result, "times");
  return passed(*time,
                times != nullptr && times->is_object() ? member(*times, "runtimes") : nullptr);
}

Result<std::vector<TuneParameter>> listed_parameters(const Json& results) {
  std::map<std::string, std::set<Json>> found;
  for (const Json& result : results) {
    const Json* configuration = result.is_object() ? member(result, "configuration") : nullptr;
    if (configuration == nullptr || !configuration->is_object()) {
      return bad_cache("a result has no \"configuration\"");
    }
    for (const auto& [name, value] : configuration->items()) {
      found[name].insert(value);
    }
  }
  std::vector<TuneParameter> parameters;
  for (const auto& [name, values] : found) {
    KP_LET(TuneParameter parameter, parameter_of(name, {values.begin(), values.end()}));
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

Result<Landscape> from_results(const Json& json, std::string name) {
  const Json* version = member(json, "schema_version");
  if (version == nullptr || *version != "1.0.0") {
    return bad_cache(fmt::format("a T4 file of version {}; known is \"1.0.0\"",
                                 version == nullptr ? "none" : version->dump()));
  }
  if (!json["results"].is_array()) {
    return bad_cache("\"results\" is no list");
  }
  KP_LET(std::vector<TuneParameter> parameters, listed_parameters(json["results"]));
  const Values values(parameters);
  std::vector<RecordedAt> programs;
  for (const Json& result : json["results"]) {
    Result<std::vector<std::size_t>> places = values.places(result["configuration"]);
    Result<Recorded> recorded = listed_result(result);
    if (!places || !recorded) {
      return bad_cache((places ? recorded.error() : places.error()).text(),
                       fmt::format("/results/{}", programs.size()));
    }
    programs.push_back({std::move(*places), std::move(*recorded)});
  }
  return make_landscape(std::move(name), std::move(parameters), std::move(programs));
}

// The file's name without .json and .json.gz; empty: it is none of these.
std::string cache_stem(const std::filesystem::path& path) {
  std::string name = path.filename().string();
  if (name.ends_with(".gz")) {
    name.resize(name.size() - 3);
  }
  return name.ends_with(".json") ? name.substr(0, name.size() - 5) : "";
}

constexpr std::string_view t4_ending = "_T4";

}  // namespace

Result<Landscape> from_kernel_tuner(const Json& json, std::string name) {
  if (json.is_object() && json.contains("cache") && json.contains("tune_params")) {
    return from_cache(json, std::move(name));
  }
  if (json.is_object() && json.contains("results")) {
    return from_results(json, std::move(name));
  }
  return bad_cache(
      "neither a cache of Kernel Tuner (\"tune_params\" and \"cache\") nor a T4 file "
      "(\"results\")");
}

Result<std::vector<std::filesystem::path>> cache_files(const std::filesystem::path& place) {
  std::error_code code;
  if (!std::filesystem::is_directory(place, code)) {
    return std::vector<std::filesystem::path>{place};
  }
  std::set<std::filesystem::path> files;
  std::set<std::filesystem::path> stems;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(place, code)) {
    if (const std::string stem = cache_stem(entry.path()); !stem.empty()) {
      files.insert(entry.path());
      stems.insert(entry.path().parent_path() / stem);
    }
  }
  std::erase_if(files, [&stems](const std::filesystem::path& path) {
    const std::string stem = cache_stem(path);
    return stem.ends_with(t4_ending) &&
           stems.contains(path.parent_path() / stem.substr(0, stem.size() - t4_ending.size()));
  });
  if (code || files.empty()) {
    return bad_cache(code ? code.message() : "there is no .json and no .json.gz in this folder",
                     place.string());
  }
  return std::vector(files.begin(), files.end());
}

std::string landscape_name(const std::filesystem::path& cache) {
  std::string stem = cache_stem(cache);
  if (stem.ends_with(t4_ending)) {
    stem.resize(stem.size() - t4_ending.size());
  }
  const std::string folder = std::filesystem::absolute(cache).parent_path().filename().string();
  return folder + "-" + (stem.empty() ? cache.filename().string() : stem);
}

}  // namespace kernelpro
