// Files with one JSON value a line.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "common/base/result.hpp"

namespace kernelpro {

// A line, its text, and its place as "FILE:LINE" for errors.
struct JsonLine {
  const nlohmann::json& json;
  const std::string& text;
  std::string place;
};

// Gives every line that is not blank to `read`, one after another, until one is no JSON or `read`
// has an error.
[[nodiscard]] Status read_json_lines(const std::filesystem::path& file,
                                     const std::function<Status(const JsonLine&)>& read);

}  // namespace kernelpro
