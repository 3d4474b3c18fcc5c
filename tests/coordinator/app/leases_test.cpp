#include "coordinator/app/leases.hpp"

#include <gmock/gmock.h>

#include "common/base/file.hpp"

namespace kernelpro {
namespace {

using ::testing::HasSubstr;

class LeasesTest : public ::testing::Test {
 protected:
  std::optional<std::string> take(const Lease& lease, bool take_over = false) const {
    const Result<LeaseTaken> taken = take_lease(folder_->path(), lease, take_over);
    EXPECT_TRUE(taken.ok()) << taken.error().text();
    EXPECT_THAT(taken->until, HasSubstr("T"));
    return taken->token;
  }
  [[nodiscard]] Status check(const Lease& lease, const std::string& token) const {
    return check_lease(folder_->path(), lease, token);
  }

  Result<ScratchDir> folder_ = ScratchDir::create("leases");
  Lease lease_{"gemm-1", "2026-01-01T00:00:00Z", 3};
};

TEST_F(LeasesTest, OneHolderAtATime) {
  EXPECT_FALSE(check(lease_, "x").ok());
  const std::optional<std::string> first = take(lease_);
  ASSERT_TRUE(first.has_value());
  EXPECT_TRUE(check(lease_, *first).ok());
  EXPECT_FALSE(take(lease_).has_value());
  const std::optional<std::string> second = take(lease_, true);
  ASSERT_TRUE(second.has_value());
  EXPECT_TRUE(check(lease_, *second).ok());
  EXPECT_THAT(check(lease_, *first).error().text(), HasSubstr("given to somebody else"));
}

TEST_F(LeasesTest, ALeaseThatRanOutIsGoodUntilSomebodyElseTakesIt) {
  const std::optional<std::string> first = take(lease_);
  const std::filesystem::path file = folder_->path() / "leases" / "gemm-1.3.json";
  ASSERT_TRUE(write_file_unsynced(file, R"({"token":")" + *first + R"(","created":")" +
                                            lease_.created + R"(","until":1})")
                  .ok());
  EXPECT_TRUE(check(lease_, *first).ok());
  EXPECT_TRUE(take(lease_).has_value());
  EXPECT_FALSE(check(lease_, *first).ok());
}

TEST_F(LeasesTest, AClockThatWasSetBackLetsNoLeaseRunForYears) {
  for (const std::string until : {"99999999999", "9223372036854775807"}) {
    const std::optional<std::string> first = take(lease_, true);
    const std::filesystem::path file = folder_->path() / "leases" / "gemm-1.3.json";
    ASSERT_TRUE(write_file_unsynced(file, R"({"token":")" + *first + R"(","created":")" +
                                              lease_.created + R"(","until":)" + until + "}")
                    .ok());
    EXPECT_TRUE(check(lease_, *first).ok());
    EXPECT_TRUE(take(lease_).has_value()) << until;
  }
}

TEST_F(LeasesTest, ARunOfTheSameNameThatWasMadeLaterIsAnother) {
  const std::optional<std::string> first = take(lease_);
  Lease other = lease_;
  other.created = "2026-02-02T00:00:00Z";
  EXPECT_FALSE(check(other, *first).ok());
  EXPECT_TRUE(take(other).has_value());
}

TEST_F(LeasesTest, AFileThatSaysNothingIsNoLease) {
  const std::filesystem::path file = folder_->path() / "leases" / "gemm-1.3.json";
  ASSERT_TRUE(make_directories(file.parent_path()).ok());
  for (const char* const text : {"", "[]", "{", R"({"created":5})", R"({"until":"x"})"}) {
    ASSERT_TRUE(write_file_unsynced(file, text).ok());
    EXPECT_TRUE(take(lease_, true).has_value()) << text;
  }
}

}  // namespace
}  // namespace kernelpro
