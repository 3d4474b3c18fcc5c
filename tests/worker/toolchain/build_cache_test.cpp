#include "worker/toolchain/build_cache.hpp"

#include <gmock/gmock.h>

#include "common/base/file.hpp"
#include "common/base/hash.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t binary_bytes = 100'000;

class BuildCacheTest : public ::testing::Test {
 protected:
  [[nodiscard]] BuildCache open(std::int64_t limit_bytes) const {
    Result<BuildCache> cache = BuildCache::open(scratch_->path() / "builds", limit_bytes);
    EXPECT_TRUE(cache) << cache.error().text();
    return *cache;
  }

  static std::string name(int number) { return "key" + std::to_string(number) + ".so"; }

  static fs::path store(const BuildCache& cache, int number) {
    const std::string binary(binary_bytes, static_cast<char>(number));
    BuildRecord record;
    record.binary_hash = sha256(binary);
    const Result<CachedBuild> stored = cache.store(name(number), binary, record, "");
    EXPECT_TRUE(stored) << stored.error().text();
    return stored->library;
  }

  static void set_age(fs::path library, std::chrono::hours age) {
    const auto then = fs::file_time_type::clock::now() - age;
    fs::last_write_time(library, then);
    fs::last_write_time(library.replace_extension(".json"), then);
  }

 private:
  Result<ScratchDir> scratch_ = ScratchDir::create("build-cache-test");
};

TEST_F(BuildCacheTest, BeyondItsLimitLosesWhatWasUsedLongestAgo) {
  const BuildCache earlier = open(1 << 30);
  std::vector<fs::path> libraries;
  for (int i = 0; i < 4; ++i) {
    libraries.push_back(store(earlier, i));
    set_age(libraries.back(), std::chrono::hours(10 - i));
  }
  const BuildCache cache = open(4 * binary_bytes);
  // Found again, and so used last.
  EXPECT_TRUE(cache.find(name(0)));
  const fs::path newest = store(cache, 4);
  EXPECT_TRUE(fs::exists(newest));
  EXPECT_TRUE(fs::exists(libraries[0]));
  EXPECT_FALSE(fs::exists(libraries[1]));
  EXPECT_FALSE(fs::exists(libraries[1].replace_extension(".json")));
  EXPECT_FALSE(fs::exists(libraries[2]));
  EXPECT_FALSE(cache.find(name(1)));
  EXPECT_TRUE(cache.find(name(4)));
}

TEST_F(BuildCacheTest, KeepsWhatIsHeldHoweverMuchComesAfter) {
  const BuildCache cache = open(4 * binary_bytes);
  const fs::path held = store(cache, 0);
  cache.hold();
  const fs::path first = store(cache, 1);
  for (int i = 2; i < 80; ++i) {
    const fs::path library = store(cache, i);
    EXPECT_TRUE(fs::exists(library));
  }
  EXPECT_TRUE(fs::exists(held));
  EXPECT_FALSE(fs::exists(first)) << "more than the last 64 are kept";
}

}  // namespace
}  // namespace kernelpro
