// ctest asks for it where cases run beside each other: their verdicts hold whatever runs beside
// them, and under the machine's lock one would wait until another has judged.
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>

#include "common/base/file.hpp"

namespace kernelpro {
namespace {

class OwnLock : public ::testing::Environment {
  void SetUp() override {
    if (std::getenv("KERNELPRO_OWN_LOCK") == nullptr) {
      return;
    }
    Result<ScratchDir> folder = ScratchDir::create("own-lock");
    ASSERT_TRUE(folder) << folder.error().text();
    folder_ = std::move(*folder);
    setenv("KERNELPRO_LOCK_DIR", folder_->path().c_str(), 1);
  }
  void TearDown() override { folder_.reset(); }

  std::optional<ScratchDir> folder_;
};

const auto* const own_lock = ::testing::AddGlobalTestEnvironment(new OwnLock);

}  // namespace
}  // namespace kernelpro
