// Durations as people write them.
#pragma once

#include <optional>
#include <string_view>

namespace kernelpro {

// "60s", "5m", "1h30m", "250ms", "1.5h", "2d" in seconds; a plain number is seconds. Units go from
// the largest to the smallest, each once. Nothing where it is no duration.
[[nodiscard]] std::optional<double> parse_duration(std::string_view text);

}  // namespace kernelpro
