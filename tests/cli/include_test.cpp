// Candidates that include libraries of headers: judged, verified, exported, by workers elsewhere.
#include "cli/fixture.hpp"

namespace kernelpro {
namespace {

using namespace kernelpro::testing;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* including_source = R"(// kp:options -O3 target
#include <damped/step.hpp>

#include "kernelpro/candidate.h"

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const auto a = static_cast<float>(context->scalars[0]);
  const auto* x = static_cast<const float*>(tensors[0].data);
  auto* y = static_cast<float*>(tensors[1].data);
  for (int64_t i = 0; i < context->axes[0]; ++i) {
    y[i] = damped::steps<8>(a, x[i]);
  }
  return 0;
}
)";

class Include : public Cli {
 protected:
  void SetUp() override {
    write(work() / "mine.cpp", including_source);
    write(work() / "lib/damped/step.hpp",
          "#pragma once\n#include \"constants.hpp\"\nnamespace damped {\ntemplate <int N>\n"
          "float steps(float sum, float x) {\n  for (int k = 0; k < N; ++k) {\n"
          "    sum = sum * x * quarter + 1.0F;\n  }\n  return sum;\n}\n}\n");
    write(work() / "lib/damped/constants.hpp",
          "#pragma once\nnamespace damped {\nconstexpr float quarter = 0.25F;\n}\n");
    write(work() / "lib/damped/unused.hpp", "#error not included\n");
  }

  [[nodiscard]] Words judging(const Words& more) const {
    Words words = {"evaluate", data("wave"), "mine.cpp", "--no-timing"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  // The certificate of mine.cpp.
  [[nodiscard]] Json certified() const {
    const Json result =
        json(judging({"--include", "damped=lib", "--certificates", "."}), "cli_evaluate.json", 0);
    return result["evaluations"][0]["certificate"];
  }

  static constexpr const char* certificate = "wave-mine.certificate.json";
};

TEST_F(Include, TheCertificateHasExactlyTheHeadersThatWereIncluded) {
  expect_exit(kernelpro(judging({})), 3);
  const Json library = certified()["build"]["includes"][0];
  EXPECT_EQ(library["name"], "damped");
  EXPECT_EQ(library["commit"], "");
  EXPECT_EQ(library["files"].size(), 2U);
  EXPECT_TRUE(library["files"].contains("damped/constants.hpp"));
  EXPECT_TRUE(library["files"].contains("damped/step.hpp"));
}

TEST_F(Include, VerifyNeedsTheLibraryAndNamesWhatHasChangedInIt) {
  (void)certified();
  const Finished without = kernelpro({"verify", certificate});
  expect_exit(without, 2);
  EXPECT_THAT(without.errors, AllOf(HasSubstr("its build includes the library damped (2 headers"),
                                    HasSubstr("--include damped=DIR")));
  const Words again = {"verify", certificate, "--include", "damped=lib"};
  expect_exit(kernelpro(again), 0);
  write(work() / "lib/damped/unused.hpp", "#error still not included\n");
  expect_exit(kernelpro(again), 0);
  write(work() / "lib/damped/constants.hpp",
        "#pragma once\nnamespace damped {\nconstexpr float quarter = 0.5F / 2;\n}\n");
  const Finished changed = kernelpro(again);
  expect_exit(changed, 3);
  EXPECT_THAT(changed.output, HasSubstr("damped/damped/constants.hpp has changed"));
  fs::remove(work() / "lib/damped/constants.hpp");
  const Finished missing = kernelpro(again);
  expect_exit(missing, 3);
  EXPECT_THAT(missing.output, HasSubstr("damped/damped/constants.hpp is no longer included"));
}

TEST_F(Include, AWorkerElsewhereNeedsNoCheckout) {
  const Words words = judging({"--include", "damped=lib", "--workers", "bundle:jobs"});
  expect_exit(kernelpro(words), 4);
  const std::string bundle = content_of(work() / "jobs");
  EXPECT_EQ(bundle.find("namespace damped"), bundle.rfind("namespace damped {\\nconstexpr"))
      << "a header travels once";
  EXPECT_THAT(bundle, Not(HasSubstr((work() / "lib").string())));
  fs::rename(work() / "lib", work() / "away");
  expect_exit(
      run_to_end(command({KERNELPRO_BIN_DIR "/kernelpro-worker", "run", "jobs", "jobs.out"})), 0);
  fs::rename(work() / "away", work() / "lib");
  expect_exit(kernelpro(words), 0);
  const std::string by_command =
      std::string("cmd:cd / && ") + KERNELPRO_BIN_DIR + "/kernelpro-worker";
  expect_exit(kernelpro(judging({"--include", "damped=lib", "--workers", by_command})), 0);
}

TEST_F(Include, ATaskMayNameLibrariesAsSeenFromItsFolder) {
  copy_task("waves", [](std::string toml) {
    return std::move(toml) + "\n[include]\ndamped = \"../../lib\"\n";
  });
  expect_exit(kernelpro({"evaluate", "waves", "mine.cpp", "--no-timing"}), 0);
  copy_task("wrong",
            [](std::string toml) { return std::move(toml) + "\n[include]\n\"a b\" = 3\n"; });
  const Finished wrong = kernelpro({"evaluate", "wrong", "mine.cpp", "--no-timing"});
  expect_exit(wrong, 2);
  EXPECT_THAT(wrong.errors, HasSubstr("letters, digits and _"));
}

TEST_F(Include, ARunKeepsItsLibrariesAndRefusesOnesThatHaveChanged) {
  const Words words = {
      "optimize", data("wave"), "--from", "mine.cpp", "--include", "damped=lib",      "--timing",
      "0.02",     "--tier",     "build",  "-n",       "3",         "--accept-suspect"};
  (void)ended_run(words);
  write(work() / "lib/damped/step.hpp", "#error changed\n");
  const Finished refused = kernelpro({"resume", "wave-1", "-n", "4"});
  expect_exit(refused, 2);
  EXPECT_THAT(refused.errors, HasSubstr("the library has changed since the run began"));
  expect_exit(kernelpro({"report", "wave-1"}), 0);
}

TEST_F(Include, AnExportNamesTheLibraryAndBuildsOnceItsFolderIsNamed) {
  (void)ended_run({"optimize", data("wave"), "--from", "mine.cpp", "--include", "damped=lib",
                   "--timing", "0.02", "--tier", "build", "-n", "2", "--accept-suspect"});
  expect_exit(kernelpro({"export", "wave-1", "1", "out", "--accept-suspect"}), 0);
  const std::string readme = content_of(work() / "out/README.md");
  EXPECT_THAT(readme, AllOf(HasSubstr("| damped | not known | 2 |"),
                            HasSubstr("certificate.json --include damped=DIR")));
  Command built = command({"sh", "out/build.sh"});
  built.environment["PATH"] = std::getenv("PATH");
  const Finished asked = run_to_end(built);
  EXPECT_NE(asked.exit_code, 0);
  EXPECT_THAT(asked.errors, HasSubstr("KP_INCLUDE_DAMPED"));
  built.environment["KP_INCLUDE_DAMPED"] = (work() / "lib").string();
  expect_exit(run_to_end(built), 0);
}

TEST_F(Include, BadLibrariesAreRefusedAndNothingOutsideIsPasted) {
  const auto refused = [this](const Words& more, int exit_code = 2) {
    const Finished finished = kernelpro(judging(more));
    expect_exit(finished, exit_code);
    return finished.errors;
  };
  EXPECT_THAT(refused({"--include", "damped"}, 1), HasSubstr("expected NAME=VALUE"));
  EXPECT_THAT(refused({"--include", "a-b=lib"}, 1), HasSubstr("letters, digits and _"));
  EXPECT_THAT(refused({"--include", "damped=nowhere"}), HasSubstr("there is no such folder"));
  EXPECT_THAT(refused({"--include", "a=lib", "--include", "a=lib"}, 1), HasSubstr("named twice"));
  write(work() / "../secret.h", "int marker_of_the_secret;\n");
  for (const std::string& name :
       {std::string("../secret.h"), (temporary() / "secret.h").string()}) {
    write(work() / "mine.cpp", "#include \"" + name + "\"\n" + including_source);
    EXPECT_THAT(refused({"--include", "damped=lib"}),
                HasSubstr("lies neither below this file's folder"));
  }
}

}  // namespace
}  // namespace kernelpro
