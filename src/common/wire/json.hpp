// The JSON form of the values that worker and coordinator exchange and that certificates hold.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "common/base/result.hpp"
#include "common/model/candidate.hpp"
#include "common/model/ceilings.hpp"
#include "common/model/certificate.hpp"
#include "common/model/task.hpp"
#include "common/model/verdict.hpp"

namespace kernelpro {

// Writing never fails. Reading checks every type; an error names the place ("/inputs/0/dtype"),
// what was found and what was expected. Unknown keys are errors. Non-finite numbers are written
// as null and read as NaN, seeds as "0x" and 16 hexadecimal digits, bytes that are no part of valid
// UTF-8 as U+FFFD.
[[nodiscard]] nlohmann::json to_json(const Task&);
[[nodiscard]] nlohmann::json to_json(const Candidate&);
[[nodiscard]] nlohmann::json to_json(const Verdict&);
[[nodiscard]] nlohmann::json to_json(const Ceilings&);
[[nodiscard]] nlohmann::json to_json(const MachineRecord&);
[[nodiscard]] nlohmann::json to_json(const Certificate&);

[[nodiscard]] Result<Task> task_from_json(const nlohmann::json& json);
[[nodiscard]] Result<Candidate> candidate_from_json(const nlohmann::json& json);
[[nodiscard]] Result<Verdict> verdict_from_json(const nlohmann::json& json);
[[nodiscard]] Result<Ceilings> ceilings_from_json(const nlohmann::json& json);
[[nodiscard]] Result<MachineRecord> machine_from_json(const nlohmann::json& json);
[[nodiscard]] Result<Certificate> certificate_from_json(const nlohmann::json& json);

// Parses text; an error says line and column. A key twice in one object and nesting deeper than 64
// are errors too.
[[nodiscard]] Result<nlohmann::json> parse_json(const std::string& text);

// SHA-256 of the task's canonical JSON: equal for equal tasks, wherever their files lie.
[[nodiscard]] std::string task_hash(const Task& task);

}  // namespace kernelpro
