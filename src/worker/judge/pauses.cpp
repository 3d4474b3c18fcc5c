#include "worker/judge/pauses.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

namespace kernelpro {

void Pauses::wait() {
  constexpr std::int64_t longest_ms = 160;
  constexpr std::int64_t all_ms = 1000;
  if (waited_ms_ >= all_ms) {
    return;
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(next_ms_));
  waited_ms_ += next_ms_;
  next_ms_ = std::min(2 * next_ms_, longest_ms);
}

}  // namespace kernelpro
