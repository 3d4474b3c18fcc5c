// When a failed call is tried again.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>

#include "coordinator/llm/chat.hpp"

namespace kernelpro {

inline constexpr int most_tries = 6;
// Of what costs nothing, as 429 and 503, with somebody there: about five minutes in all.
inline constexpr int most_free_tries = 12;
inline constexpr double shortest_retry_seconds = 1;
inline constexpr double longest_retry_seconds = 60;
inline constexpr double longest_retry_after_seconds = 600;

// How many seconds to wait before the next try, after `tries` of them; nothing: give up. It doubles
// from one second to a minute, of which `random`, uniform in [0, 1), takes up to a half away, so
// that calls that failed together do not come again together. What the provider asks for counts, up
// to ten minutes.
[[nodiscard]] std::optional<double> retry_wait(int tries, const ChatFailure& failure,
                                               double random);

// False when it was asked to stop meanwhile.
[[nodiscard]] bool wait_or_stop(double seconds, std::stop_token stop);

// Of a header Retry-After: seconds, or an HTTP date. Nothing where it is neither; a date that is
// past is 0. `now`: seconds since 1970.
[[nodiscard]] std::optional<double> parse_retry_after(const std::string& value, std::int64_t now);

}  // namespace kernelpro
