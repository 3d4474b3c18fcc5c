#include "coordinator/llm/retry.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <mutex>

namespace kernelpro {

std::optional<double> retry_wait(int tries, const ChatFailure& failure, double random) {
  const bool free = !failure.may_cost && !failure.for_all;
  if (!failure.retriable || tries >= (free ? most_free_tries : most_tries)) {
    return std::nullopt;
  }
  const double whole = std::min(shortest_retry_seconds * std::ldexp(1, std::max(tries, 1) - 1),
                                longest_retry_seconds);
  const double wait = whole * (1 - random / 2);
  const double asked =
      std::clamp(failure.retry_after_seconds.value_or(0), 0.0, longest_retry_after_seconds);
  return std::max(wait, asked);
}

bool wait_or_stop(double seconds, std::stop_token stop) {
  std::mutex mutex;
  std::condition_variable_any changed;
  std::unique_lock lock(mutex);
  return !changed.wait_for(lock, stop, std::chrono::duration<double>(seconds),
                           [&stop] { return stop.stop_requested(); });
}

std::optional<double> parse_retry_after(const std::string& value, std::int64_t now) {
  double seconds = 0;
  const char* const end = value.data() + value.size();
  const auto [rest, error] = std::from_chars(value.data(), end, seconds);
  if (error == std::errc() && rest == end) {
    return std::isfinite(seconds) && seconds >= 0 ? std::optional(seconds) : std::nullopt;
  }
  const time_t date = curl_getdate(value.c_str(), nullptr);
  if (value.empty() || date == -1) {
    return std::nullopt;
  }
  return std::max(0.0, static_cast<double>(date - now));
}

}  // namespace kernelpro
