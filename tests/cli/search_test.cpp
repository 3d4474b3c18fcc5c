// Tuning, landscapes and simulations from the command line.
#include "cli/fixture.hpp"
#include "coordinator/simulate/small_cache.hpp"

namespace kernelpro {
namespace {

using namespace kernelpro::testing;
using ::testing::AllOf;
using ::testing::HasSubstr;

using SearchCommands = Cli;

TEST_F(SearchCommands, ACacheIsImportedAndSearched) {
  write(work() / "hub/kernel/GPU.json", small_cache().dump());
  write(work() / "hub/kernel/GPU_T4.json", small_t4().dump());
  const Json imported =
      json({"landscape", "import", "hub", "--into", "made"}, "cli_landscape_import.json", 0);
  ASSERT_EQ(imported["landscapes"].size(), 1U);
  EXPECT_EQ(imported["landscapes"][0]["name"], "kernel-GPU");
  EXPECT_EQ(imported["landscapes"][0]["passed"], 2);
  const Json done = json({"simulate", "made", "--seeds", "3", "--budgets", "2,4", "--searches",
                          "tuner,greedy,uniform", "--svg", "curves.svg"},
                         "cli_simulate.json", 0);
  EXPECT_EQ(done["all"][2]["search"], "uniform");
  EXPECT_EQ(done["all"][2]["shares"][1], 1.0);
  EXPECT_THAT(content_of(work() / "curves.svg"), HasSubstr("<svg"));
  const Finished text = kernelpro({"simulate", "made/kernel-GPU.json.gz", "--seeds", "2"});
  expect_exit(text, 0);
  EXPECT_THAT(text.output, AllOf(HasSubstr("kernel-GPU: 4 programs"), HasSubstr("tuner")));
}

TEST_F(SearchCommands, BadLandscapesAndSearchesAreNamed) {
  write(work() / "cut.json", small_cache().dump().substr(0, 200));
  write(work() / "other.json", "{\"results\": [], \"schema_version\": \"9.9.9\"}");
  const struct {
    Words arguments;
    int code;
    std::string what;
  } cases[] = {
      {{"landscape", "import", "cut.json", "--into", "made"}, 2, "cut.json"},
      {{"landscape", "import", "other.json", "--into", "made"}, 2, "version \"9.9.9\""},
      {{"landscape", "import", "nowhere", "--into", "made"}, 2, "nowhere"},
      {{"landscape", "import", "cut.json"}, 1, "--into is required"},
      {{"simulate", "cut.json"}, 2, "cut.json"},
      {{"simulate", "cut.json", "--seeds", "0"}, 1, "--seeds"},
      {{"tune", "axpy", "nowhere.cpp"}, 2, "nowhere.cpp"},
  };
  for (const auto& one : cases) {
    const Finished finished = kernelpro(one.arguments);
    expect_exit(finished, one.code);
    EXPECT_THAT(finished.errors, HasSubstr(one.what));
  }
  EXPECT_FALSE(fs::exists(work() / "made"));
}

class TuneCommand : public Cli {
 protected:
  // The wave with a loop of so many rounds more than it needs, in vain: fewer are faster. Seven
  // does not build, and nine is the machine code of eight.
  static std::string tunable_source() {
    return R"(// kp:options -O1
#include "kernelpro/candidate.h"

// kp:tune VAIN = 1 2 4 7 8 9 64
constexpr int64_t VAIN = 64;
static_assert(VAIN != 7);
constexpr int64_t rounds = VAIN == 9 ? 8 : VAIN;

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const auto a = static_cast<float>(context->scalars[0]);
  const auto* x = static_cast<const float*>(tensors[0].data);
  auto* y = static_cast<float*>(tensors[1].data);
  for (int64_t again = 0; again < rounds; ++again) {
    for (int64_t i = 0; i < context->axes[0]; ++i) {
      float sum = a;
      for (int k = 0; k < 8; ++k) {
        sum = sum * x[i] * 0.25F + 1.0F;
      }
      *static_cast<volatile float*>(y + i) = sum;
    }
  }
  return 0;
}
)";
  }
};

TEST_F(TuneCommand, TheFastestValueIsFasterAndWritten) {
  write(work() / "wave.cpp", tunable_source());
  const Json done =
      json({"tune", data("wave"), "wave.cpp", "--into", "tuned.cpp"}, "cli_tune.json", 0);
  ASSERT_EQ(done["tried"].size(), 7U);
  EXPECT_EQ(done["tried"][0]["values"], "VAIN = 64");
  const std::string best = done["tried"][done["best"].get<std::size_t>()]["values"];
  EXPECT_THAT(best, ::testing::AnyOf("VAIN = 1", "VAIN = 2", "VAIN = 4"));
  int duplicates = 0;
  for (const Json& one : done["tried"]) {
    duplicates += one["duplicate"] == true ? 1 : 0;
    if (one["values"] == "VAIN = 7") {
      EXPECT_EQ(one["outcome"], "build_failed");
    }
  }
  EXPECT_EQ(duplicates, 1);
  // Seven configurations less the duplicate, and the check at the end.
  EXPECT_EQ(done["evaluations"], 7);
  EXPECT_EQ(content_of(work() / "tuned.cpp"), done["source"]);
  EXPECT_THAT(done["source"].get<std::string>(), HasSubstr("constexpr int64_t " + best + ";"));
}

TEST_F(TuneCommand, WhatCannotBeTunedIsRefused) {
  write(work() / "plain.cpp", content_of(data("fast.cpp")));
  const Finished plain = kernelpro({"tune", data("wave"), "plain.cpp"});
  expect_exit(plain, 2);
  EXPECT_THAT(plain.errors, AllOf(HasSubstr("no tunables"), HasSubstr("plain.cpp")));
  write(work() / "wave.cpp", tunable_source());
  const Finished few = kernelpro({"tune", data("wave"), "wave.cpp", "--evaluations", "2"});
  expect_exit(few, 2);
  EXPECT_THAT(few.errors, HasSubstr("--evaluations: expected 3 or more"));
}

}  // namespace
}  // namespace kernelpro
