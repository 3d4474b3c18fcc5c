#include "worker/tensor/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace kernelpro {
namespace {

TEST(ParallelParts, CoverEveryElementOnce) {
  for (const std::size_t count : {0U, 1U, 99U, 100U, 101U, 12'345U}) {
    std::vector<std::atomic<int>> visits(count);
    parallel_parts(count, 100, [&visits](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        ++visits[i];
      }
    });
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_EQ(visits[i], 1) << i << " of " << count;
    }
  }
}

}  // namespace
}  // namespace kernelpro
