// The date for records that people read.
#pragma once

#include <string>

namespace kernelpro {

// UTC in ISO 8601: "2026-03-01T12:00:00Z".
[[nodiscard]] std::string utc_now();

}  // namespace kernelpro
