// The JSON form of a trace.
//
// A trace can have hundreds of thousands of rows, so launches, copies, fills and calls are written
// as columns ({"start_ns": [...], "end_ns": [...]}), and names that occur often once, in "names".
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "common/base/result.hpp"
#include "common/model/trace.hpp"

namespace kernelpro {

[[nodiscard]] nlohmann::json to_json(const Trace&);
// As strict as common/wire/json.hpp; columns of unequal length and numbers of names that are not in
// the list are errors.
[[nodiscard]] Result<Trace> trace_from_json(const nlohmann::json& json);

}  // namespace kernelpro
