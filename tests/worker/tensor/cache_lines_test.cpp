#include "worker/tensor/cache_lines.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace kernelpro {
namespace {

TEST(CacheLines, DroppedMemoryKeepsWhatWasWritten) {
  if (!can_drop_lines()) {
    GTEST_SKIP() << "this processor lets no program drop lines of its caches";
  }
  std::vector<char> bytes(100'001);
  std::iota(bytes.begin(), bytes.end(), 0);
  const std::vector<char> written = bytes;
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{4097}, bytes.size()}) {
    drop_lines(bytes.data(), size);
    EXPECT_EQ(bytes, written);
  }
}

}  // namespace
}  // namespace kernelpro
