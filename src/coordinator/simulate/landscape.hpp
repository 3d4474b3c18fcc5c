// Recorded programs to search among without hardware: every configuration, what became of it, and
// its times.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/verdict.hpp"
#include "coordinator/tune/space.hpp"

namespace kernelpro {

struct Recorded {
  Outcome outcome = Outcome::passed;
  std::vector<double> rounds;  // any unit; one or more when passed, none otherwise
};

struct Landscape {
  std::string name;
  TuneSpace space;                 // admits what was recorded
  std::vector<Recorded> programs;  // by place in the space
};

// A program before its place is known.
struct RecordedAt {
  std::vector<std::size_t> values;  // places of its values, one a parameter
  Recorded recorded;
};

// Checks it as a whole: bad_input errors where a program is there twice or a time is none, where
// nothing passed, and what a space refuses.
[[nodiscard]] Result<Landscape> make_landscape(std::string name,
                                               std::vector<TuneParameter> parameters,
                                               std::vector<RecordedAt> programs);

[[nodiscard]] nlohmann::json to_json(const Landscape& landscape);
[[nodiscard]] Result<Landscape> landscape_from_json(const nlohmann::json& json);

// Packed by gzip or not. Errors name the file.
[[nodiscard]] Result<nlohmann::json> read_packed_json(const std::filesystem::path& path);
// Packed by gzip.
[[nodiscard]] Status write_landscape(const Landscape& landscape, const std::filesystem::path& path);

}  // namespace kernelpro
