#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "common/base/file.hpp"
#include "coordinator/simulate/any_landscape.hpp"
#include "coordinator/simulate/small.hpp"

namespace kernelpro {
namespace {

using namespace kernelpro::testing;
using ::testing::AllOf;
using ::testing::HasSubstr;

class LandscapeFile : public ::testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path file() const { return folder_.path() / "bowl.json.gz"; }
  [[nodiscard]] std::string refusal(const std::string& content) const {
    EXPECT_TRUE(write_file_unsynced(file(), content));
    const Result<AnyLandscape> landscape = read_landscape(file());
    return landscape ? "" : landscape.error().text();
  }

 private:
  ScratchDir folder_ = ScratchDir::create("landscape").value();
};

TEST_F(LandscapeFile, ComesBackAsItWasWritten) {
  const Landscape landscape = bowl("bowl");
  ASSERT_TRUE(write_landscape(landscape, file()));
  EXPECT_EQ(to_json(std::get<Landscape>(read_landscape(file()).value())), to_json(landscape));
  // Also where somebody unpacked it.
  EXPECT_EQ(refusal(to_json(landscape).dump()), "");
}

TEST_F(LandscapeFile, CutAnywhereIsAnErrorThatNamesTheFile) {
  ASSERT_TRUE(write_landscape(bowl("bowl"), file()));
  const std::string whole = read_file(file()).value();
  for (std::size_t length = 0; length < whole.size(); length += 1 + whole.size() / 40) {
    EXPECT_THAT(refusal(whole.substr(0, length)), HasSubstr("bowl.json.gz")) << length;
  }
}

TEST_F(LandscapeFile, ForeignOrInconsistentContentIsNamed) {
  const auto changed = [this](const char* place, const nlohmann::json& value) {
    nlohmann::json json = to_json(bowl("bowl"));
    json[nlohmann::json::json_pointer(place)] = value;
    return refusal(json.dump());
  };
  EXPECT_THAT(refusal("[1]"), HasSubstr("landscape import"));
  EXPECT_THAT(refusal("{\"cache\": {}}"), HasSubstr("this is no landscape"));
  EXPECT_THAT(changed("/landscape", 2), AllOf(HasSubstr("version 2"), HasSubstr("version 1")));
  EXPECT_THAT(changed("/programs", 2), HasSubstr("\"programs\" is missing, or no list"));
  EXPECT_THAT(changed("/parameters/0/values", 2), HasSubstr("a parameter is not as expected"));
  EXPECT_THAT(changed("/programs/0/0/0", 77), HasSubstr("P0 has no value 77"));
  EXPECT_THAT(changed("/programs/0/0/0", 1), HasSubstr("there twice"));
  EXPECT_THAT(changed("/programs/0/0", nlohmann::json::array({1})), HasSubstr("expected 3"));
  EXPECT_THAT(changed("/programs/0/1", "lucky"), HasSubstr("no outcome \"lucky\""));
  EXPECT_THAT(changed("/programs/0/1", "crashed"), HasSubstr("failed and has a time"));
  EXPECT_THAT(changed("/programs/0/2", nlohmann::json::array()), HasSubstr("has no time"));
  EXPECT_THAT(changed("/programs/0/2/0", 0), HasSubstr("not above 0"));
  EXPECT_THAT(read_landscape("nowhere.json").error().text(), HasSubstr("nowhere.json"));
}

}  // namespace
}  // namespace kernelpro
