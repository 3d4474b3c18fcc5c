// Results that come back from elsewhere: a changed bit is refused, with the file and the line.
#include "coordinator/dispatch/bundle.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "common/base/file.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* owner = "wave-1 of today";

class BundleFiles : public ::testing::Test {
 protected:
  [[nodiscard]] fs::path jobs() const { return folder_->path() / "jobs"; }
  [[nodiscard]] fs::path results() const { return Bundle::results_of(jobs()); }

  static void put(const fs::path& file, const std::string& text) {
    std::ofstream stream(file, std::ios::binary | std::ios::trunc);
    stream << text;
    ASSERT_TRUE(stream.good());
  }

  [[nodiscard]] std::string error() const {
    const Result<Bundle> bundle = Bundle::open(jobs(), owner);
    return bundle ? "" : bundle.error().text();
  }

  Result<ScratchDir> folder_ = ScratchDir::create("kernelpro-bundle-test");
};

std::string flipped(std::string text, std::size_t at, unsigned bit) {
  text[at] = static_cast<char>(static_cast<unsigned char>(text[at]) ^ (1U << bit));
  return text;
}

TEST_F(BundleFiles, NoResultWithAChangedBitIsTaken) {
  const std::string header = results_header_line({owner, 1, 2});
  const std::string first = *reply_line(1, {{"speedup", 1.25}, {"source", "int x = 1;\n"}});
  const std::string second =
      error_line(2, make_error(ErrorKind::busy, "in use", "gpu")) + *reply_line(2, {{"a", 1}});
  const std::string whole = header + first + second;
  put(results(), whole);
  ASSERT_EQ(error(), "");
  for (std::size_t at = 0; at + 1 < whole.size(); ++at) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      put(results(), flipped(whole, at, bit));
      ASSERT_THAT(error(), StartsWith(results().string())) << "byte " << at << ", bit " << bit;
    }
  }
  put(results(), flipped(whole, whole.find("1.25"), 0));
  EXPECT_EQ(error(), results().string() +
                         ":2: its checksum does not fit: it was changed on the way, so copy or "
                         "send it again");
}

TEST_F(BundleFiles, NoRequestWithAChangedBitIsTaken) {
  Result<Bundle> bundle = Bundle::open(jobs(), owner);
  ASSERT_TRUE(bundle.ok()) << bundle.error().text();
  const auto body = std::make_shared<const nlohmann::json>(nlohmann::json{{"threads", 4}});
  ASSERT_TRUE(bundle->write({{1, WorkerOp::open, body}}).ok());
  const std::string whole = *read_file(jobs());
  ASSERT_EQ(error(), "");
  for (std::size_t at = 0; at + 1 < whole.size(); ++at) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      put(jobs(), flipped(whole, at, bit));
      ASSERT_THAT(error(), StartsWith(jobs().string())) << "byte " << at << ", bit " << bit;
    }
  }
  put(jobs(), flipped(whole, whole.find("\"threads\":4") + 10, 0));
  EXPECT_THAT(error(), HasSubstr("jobs:2: its checksum does not fit"));
}

TEST_F(BundleFiles, ResultsWithoutAChecksumAreRefused) {
  put(results(),
      results_header_line({owner, 1, 1}) + R"({"v":1,"id":1,"ok":true,"result":{}})" + "\n");
  EXPECT_EQ(error(), results().string() +
                         ":2: it has no checksum: install the same kernelpro on both sides");
}

}  // namespace
}  // namespace kernelpro
