#include "coordinator/simulate/kernel_tuner.hpp"

#include <gmock/gmock.h>

#include "common/base/file.hpp"
#include "coordinator/simulate/small_cache.hpp"

namespace kernelpro {
namespace {

using namespace kernelpro::testing;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

void expect_small(const Landscape& landscape) {
  EXPECT_THAT(landscape.space.parameters()[0], (TuneParameter{"block", {"32", "64", "128"}, true}));
  EXPECT_FALSE(landscape.space.parameters()[1].ordinal);
  ASSERT_EQ(landscape.programs.size(), 4U);
  int failed = 0;
  for (std::uint64_t place = 0; place < 4; ++place) {
    const Recorded& one = landscape.programs[place];
    const std::string text = landscape.space.text(landscape.space.at(place));
    failed += one.outcome == Outcome::passed ? 0 : 1;
    if (text == "block = 64, kind = row, unroll = 0") {
      EXPECT_THAT(one.rounds, ElementsAre(2.5, 1.5));
    } else if (text == "block = 32, kind = column, unroll = 0") {
      EXPECT_EQ(one.outcome, Outcome::launch_failed);
    } else if (text == "block = 64, kind = column, unroll = 0") {
      EXPECT_EQ(one.outcome, Outcome::build_failed);
    }
  }
  EXPECT_EQ(failed, 2);
}

TEST(KernelTunerTest, ReadsACacheAndAT4FileAlike) {
  expect_small(from_kernel_tuner(small_cache(), "small").value());
  expect_small(from_kernel_tuner(small_t4(), "small").value());
}

TEST(KernelTunerTest, TakesTheMeanWhereRoundsWereNotKept) {
  nlohmann::json cache = small_cache();
  cache["cache"]["64,row,0"].erase("times");
  const Landscape landscape = from_kernel_tuner(cache, "small").value();
  const Code code = landscape.space.code_of({1, 0, 0});
  EXPECT_THAT(landscape.programs[landscape.space.place_of(code)].rounds, ElementsAre(2.0));
}

std::string refusal(const nlohmann::json& json) {
  const Result<Landscape> landscape = from_kernel_tuner(json, "small");
  return landscape ? "" : landscape.error().text();
}

TEST(KernelTunerTest, SaysWhatOfACacheIsUnknownOrInconsistent) {
  const auto changed = [](const char* place, const nlohmann::json& value) {
    nlohmann::json cache = small_cache();
    cache[nlohmann::json::json_pointer(place)] = value;
    return refusal(cache);
  };
  EXPECT_THAT(changed("/schema_version", "2.0.0"), HasSubstr("version \"2.0.0\""));
  EXPECT_EQ(changed("/schema_version", "1.1.0"), "");
  EXPECT_THAT(changed("/objective", "energy"), HasSubstr("objective is \"energy\""));
  EXPECT_THAT(changed("/cache", 3), HasSubstr("\"cache\" is no object"));
  EXPECT_THAT(changed("/tune_params/block", 3), HasSubstr("no list"));
  EXPECT_THAT(changed("/tune_params/block/0", nullptr), HasSubstr("neither number"));
  EXPECT_THAT(changed("/cache/64,row,0/block", 65),
              AllOf(HasSubstr("64,row,0"), HasSubstr("block is 65")));
  EXPECT_THAT(changed("/cache/64,row,0/block", 128), HasSubstr("there twice"));
  EXPECT_THAT(changed("/cache/64,row,0/time", "Melted"), HasSubstr("\"Melted\" is neither"));
  EXPECT_THAT(changed("/cache/64,row,0/times", "x"), HasSubstr("no list of numbers"));
  EXPECT_THAT(changed("/cache/64,row,0/times/0", -1), HasSubstr("not above 0"));
  EXPECT_THAT(changed("/cache/64,row,0", 1), HasSubstr("no object"));
  nlohmann::json missing = small_cache();
  missing["cache"]["64,row,0"].erase("kind");
  EXPECT_THAT(refusal(missing), HasSubstr("\"kind\" is missing"));
  missing = small_cache();
  missing["cache"] = nlohmann::json::object();
  EXPECT_THAT(refusal(missing), HasSubstr("no program passed"));
}

TEST(KernelTunerTest, SaysWhatOfAT4FileIsUnknownOrInconsistent) {
  nlohmann::json t4 = small_t4();
  t4["schema_version"] = "3.0.0";
  EXPECT_THAT(refusal(t4), HasSubstr("version \"3.0.0\""));
  t4 = small_t4();
  t4["results"][1]["invalidity"] = "odd";
  EXPECT_THAT(refusal(t4), AllOf(HasSubstr("/results/1"), HasSubstr("\"odd\"")));
  t4 = small_t4();
  t4["results"][2].erase("configuration");
  EXPECT_THAT(refusal(t4), HasSubstr("no \"configuration\""));
  t4 = small_t4();
  t4["results"][2]["configuration"].erase("kind");
  EXPECT_THAT(refusal(t4), HasSubstr("\"kind\" is missing"));
  EXPECT_THAT(refusal({{"other", 1}}), HasSubstr("neither a cache of Kernel Tuner"));
}

TEST(KernelTunerTest, OfAFolderTakesCachesBeforeT4Files) {
  const ScratchDir folder = ScratchDir::create("caches").value();
  for (const char* name : {"A.json", "A_T4.json", "B_T4.json", "notes.txt"}) {
    ASSERT_TRUE(write_file_unsynced(folder.path() / name, "{}"));
  }
  EXPECT_THAT(cache_files(folder.path()).value(),
              ElementsAre(folder.path() / "A.json", folder.path() / "B_T4.json"));
  EXPECT_THAT(landscape_name("/x/convolution/B_T4.json.gz"), "convolution-B");
  const ScratchDir empty = ScratchDir::create("empty").value();
  EXPECT_THAT(cache_files(empty.path()).error().text(), HasSubstr("no .json"));
}

}  // namespace
}  // namespace kernelpro
