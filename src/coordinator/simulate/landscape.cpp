#include "coordinator/simulate/landscape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

namespace kernelpro {

namespace {

constexpr int landscape_version = 1;

Error bad_landscape(std::string what) {
  return make_error(ErrorKind::bad_input, std::move(what));
}

Status check_recorded(const Recorded& one, const std::string& where) {
  const bool passed = one.outcome == Outcome::passed;
  if (passed == one.rounds.empty()) {
    return bad_landscape(where + (passed ? " passed and has no time" : " failed and has a time"));
  }
  const bool sound = std::all_of(one.rounds.begin(), one.rounds.end(),
                                 [](double time) { return std::isfinite(time) && time > 0; });
  return sound ? Status() : Status(bad_landscape(where + " has a time that is not above 0"));
}

Result<std::vector<Code>> codes_of(const TuneSpace& all, const std::vector<RecordedAt>& programs) {
  std::vector<Code> codes;
  for (const RecordedAt& one : programs) {
    const std::string where = fmt::format("program {}", codes.size() + 1);
    if (one.values.size() != all.axes()) {
      return bad_landscape(fmt::format("{} has {} values; expected {}, one a parameter", where,
                                       one.values.size(), all.axes()));
    }
    for (std::size_t axis = 0; axis < all.axes(); ++axis) {
      if (one.values[axis] >= all.values_of(axis)) {
        return bad_landscape(fmt::format("{}: {} has no value {}", where,
                                         all.parameters()[axis].name, one.values[axis]));
      }
    }
    KP_TRY(check_recorded(one.recorded, where));
    codes.push_back(all.code_of(one.values));
  }
  return codes;
}

Result<TuneParameter> parameter_from_json(const nlohmann::json& json) {
  TuneParameter parameter;
  try {
    json.at("name").get_to(parameter.name);
    json.at("values").get_to(parameter.values);
    json.at("ordinal").get_to(parameter.ordinal);
  } catch (const nlohmann::json::exception& error) {
    return bad_landscape(std::string("a parameter is not as expected: ") + error.what());
  }
  return parameter;
}

Result<RecordedAt> program_from_json(const nlohmann::json& json) {
  RecordedAt program;
  std::string outcome;
  try {
    json.at(0).get_to(program.values);
    json.at(1).get_to(outcome);
    json.at(2).get_to(program.recorded.rounds);
  } catch (const nlohmann::json::exception& error) {
    return bad_landscape(std::string("a program is not as expected: ") + error.what());
  }
  const std::optional<Outcome> known = parse_outcome(outcome);
  if (!known) {
    return bad_landscape(fmt::format("there is no outcome \"{}\"", outcome));
  }
  program.recorded.outcome = *known;
  return program;
}

}  // namespace

Result<Landscape> make_landscape(std::string name, std::vector<TuneParameter> parameters,
                                 std::vector<RecordedAt> programs) {
  if (std::none_of(programs.begin(), programs.end(),
                   [](const RecordedAt& one) { return one.recorded.outcome == Outcome::passed; })) {
    return bad_landscape("no program passed");
  }
  KP_LET(const TuneSpace all, TuneSpace::make(parameters));
  KP_LET(const std::vector<Code> codes, codes_of(all, programs));
  KP_LET(TuneSpace space, TuneSpace::make(std::move(parameters), codes));
  std::vector<Recorded> recorded(programs.size());
  for (std::size_t i = 0; i < programs.size(); ++i) {
    recorded[space.place_of(codes[i])] = std::move(programs[i].recorded);
  }
  return Landscape{std::move(name), std::move(space), std::move(recorded)};
}

nlohmann::json to_json(const Landscape& landscape) {
  nlohmann::json parameters = nlohmann::json::array();
  for (const TuneParameter& one : landscape.space.parameters()) {
    parameters.push_back({{"name", one.name}, {"values", one.values}, {"ordinal", one.ordinal}});
  }
  nlohmann::json programs = nlohmann::json::array();
  for (std::size_t i = 0; i < landscape.programs.size(); ++i) {
    nlohmann::json values = nlohmann::json::array();
    for (std::size_t axis = 0; axis < landscape.space.axes(); ++axis) {
      values.push_back(landscape.space.value(landscape.space.at(i), axis));
    }
    const Recorded& one = landscape.programs[i];
    programs.push_back({values, name_of(one.outcome), one.rounds});
  }
  return {{"landscape", landscape_version},
          {"name", landscape.name},
          {"parameters", std::move(parameters)},
          {"programs", std::move(programs)}};
}

Result<Landscape> landscape_from_json(const nlohmann::json& json) {
  if (!json.is_object() || !json.contains("landscape")) {
    return bad_landscape(
        "this is no landscape; `kernelpro landscape import` makes one of a Kernel Tuner cache");
  }
  if (json["landscape"] != landscape_version) {
    return bad_landscape(fmt::format("a landscape of version {}; this program knows version {}",
                                     json["landscape"].dump(), landscape_version));
  }
  for (const char* key : {"parameters", "programs"}) {
    if (!json.contains(key) || !json[key].is_array()) {
      return bad_landscape(fmt::format("\"{}\" is missing, or no list", key));
    }
  }
  std::vector<TuneParameter> parameters;
  for (const nlohmann::json& one : json["parameters"]) {
    KP_LET(TuneParameter parameter, parameter_from_json(one));
    parameters.push_back(std::move(parameter));
  }
  std::vector<RecordedAt> programs;
  for (const nlohmann::json& one : json["programs"]) {
    KP_LET(RecordedAt program, program_from_json(one));
    programs.push_back(std::move(program));
  }
  const bool named = json.contains("name") && json["name"].is_string();
  return make_landscape(named ? json["name"].get<std::string>() : "", std::move(parameters),
                        std::move(programs));
}

}  // namespace kernelpro
