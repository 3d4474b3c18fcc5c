// Pauses after pairs of rounds that other programs disturbed.
#pragma once

#include <cstdint>

namespace kernelpro {

// Each is twice as long as the one before, up to a limit; after a second in all there are no more.
class Pauses {
 public:
  // Waits for a moment that may be quieter.
  void wait();

 private:
  std::int64_t next_ms_ = 10;
  std::int64_t waited_ms_ = 0;
};

}  // namespace kernelpro
