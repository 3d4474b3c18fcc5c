// Lessons as JSON: what a run keeps of a memory, and what memories exchange.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "common/base/result.hpp"
#include "common/model/lesson.hpp"

namespace kernelpro {

// Reading checks types and ranges, and that names are names: what a memory holds reaches prompts.
[[nodiscard]] nlohmann::json to_json(const Lesson&);
[[nodiscard]] nlohmann::json to_json(const LearnedFact&);
[[nodiscard]] nlohmann::json to_json(const Recollection&);

[[nodiscard]] Result<Lesson> lesson_from_json(const nlohmann::json& json);
[[nodiscard]] Result<LearnedFact> fact_from_json(const nlohmann::json& json);
[[nodiscard]] Result<Recollection> recollection_from_json(const nlohmann::json& json);

// Whether a lesson may hold it: letters, digits and "_ . + - : = " of plain ASCII, up to 80.
[[nodiscard]] bool is_plain_name(const std::string& text);
// Whether a fact may say it: one printable line of ASCII without backquotes, up to 240.
[[nodiscard]] bool is_plain_line(const std::string& text);

}  // namespace kernelpro
