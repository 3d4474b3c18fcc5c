// Cases of bench/defects as they were captured on a GPU: what each is, how long it took, and its
// profile.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "common/base/file.hpp"
#include "common/base/result.hpp"
#include "common/base/runner_protocol.hpp"
#include "common/model/figure_keys.hpp"
#include "common/model/profile.hpp"
#include "common/wire/profile_json.hpp"

namespace kernelpro {

struct DefectCase {
  std::string name;  // "bank_conflicts/transpose_f32/pad0"
  std::string tool;  // whose defect it has or could have
  bool defective = false;
  std::string twin;                  // the clean case of its shape; empty: it is that
  std::vector<std::string> also;     // further tools whose finding would be right
  std::vector<std::string> classes;  // that stage 1 may give it
  double time_us = 0;                // of a unit, not profiled
  double gain = 1;                   // its time over its twin's: what removing the defect gains
  Profile profile;
};

// How often the traced part holds a case's unit.
inline constexpr int captured_calls = 3;

// What a task would declare; how much of it is written is not known.
inline DeclaredWork declared_work(const nlohmann::json& said) {
  DeclaredWork work;
  work.flops = said.value("flops", 0.0);
  work.read_bytes = said.value("bytes", 0.0);
  work.type = said.value("type", "");
  work.calls = captured_calls;
  return work;
}

inline DefectCase defect_case_from_json(const nlohmann::json& line, const nlohmann::json& said) {
  DefectCase one;
  one.name = said.at("case");
  one.tool = said.at("tool");
  one.defective = said.at("defective");
  one.twin = said.value("twin", "");
  one.also = said.value("also", std::vector<std::string>());
  one.classes = said.value("class", std::vector<std::string>());
  one.time_us = line.at("time_us");
  one.gain = line.at("gain");
  return one;
}

// The lines of `defects --list`, by case.
inline std::map<std::string, nlohmann::json> parse_labels(const std::string& text) {
  std::map<std::string, nlohmann::json> out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
    if (json.is_object()) {
      const std::string name = json.at("case");
      out[name] = std::move(json);
    }
  }
  return out;
}

// One JSON object a line, with the same ceilings for all in the first. `labels`: as they are now,
// instead of those that were captured; a case that is no longer there is left out.
inline Result<std::vector<DefectCase>> parse_defect_cases(
    const std::string& text, const std::map<std::string, nlohmann::json>& labels = {}) {
  std::vector<DefectCase> cases;
  nlohmann::json ceilings;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
    if (json.is_discarded()) {
      return make_error(ErrorKind::bad_input, "this line is no JSON");
    }
    if (json.contains("ceilings")) {
      ceilings = json["ceilings"];
      continue;
    }
    nlohmann::json said = json.at("case");
    const auto label = labels.find(said.at("case").get<std::string>());
    if (!labels.empty() && label == labels.end()) {
      continue;
    }
    if (label != labels.end()) {
      said = label->second;
    }
    DefectCase one = defect_case_from_json(json, said);
    nlohmann::json& profile = json.at("profile");
    profile["ceilings"] = ceilings;
    Result<Profile> read = profile_from_json(profile);
    if (!read) {
      return read.error();
    }
    one.profile = std::move(*read);
    one.profile.work = declared_work(said);
    cases.push_back(std::move(one));
  }
  return cases;
}

// Thresholds were set with these cases in view; the others are reported. By a hash of the name.
inline bool is_for_calibration(const std::string& name) {
  return runner::name_hash(name.c_str()) % 2 == 0;
}

// What removing a defect has to gain.
inline constexpr double worth_removing = 1.10;

// Labeled defective, and by measurement worth removing.
inline bool is_defect(const DefectCase& one) {
  return one.defective && one.gain >= worth_removing;
}

// Labeled clean, and by measurement not: its own tool is not judged on it.
inline bool is_disputed(const DefectCase& one) {
  return !one.defective && one.gain >= worth_removing;
}

// The launch that was profiled for it. Cases of sequences can share one, which is one measurement
// then: tools that look at kernels are judged on it once. Empty: none was profiled.
inline std::string profiled_launch(const DefectCase& one) {
  const KernelProfile& kernel = one.profile.kernels.front();
  const auto duration = kernel.figure(figure::duration_ns);
  std::string out = duration ? kernel.mangled + " " + std::to_string(*duration) : "";
  for (const std::int64_t extent : kernel.grid) {
    out += duration ? " " + std::to_string(extent) : "";
  }
  return out;
}

}  // namespace kernelpro
