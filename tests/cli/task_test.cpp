// Tasks around a user's own function, and tasks that are not fit to judge by.
#include "cli/fixture.hpp"

namespace kernelpro {
namespace {

using namespace kernelpro::testing;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* smooth_source = R"(
// The mean of 64 equal values, times a.
void smooth(int n, float a, const float* x, float* y) {
  for (int i = 0; i < n; ++i) {
    float total = 0;
    for (int k = 0; k < 64; ++k) {
      total += x[i];
    }
    y[i] = a * total;
  }
}
)";

constexpr const char* smooth_candidate = R"(// kp:options -O3 target
#include "kernelpro/candidate.h"
int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const auto a = static_cast<float>(context->scalars[0]);
  const auto* x = static_cast<const float*>(tensors[0].data);
  auto* y = static_cast<float*>(tensors[1].data);
  for (int64_t i = 0; i < context->axes[0]; ++i) {
    y[i] = a * 64.0F * x[i];
  }
  return 0;
}
)";

constexpr const char* product_source = R"(
void product(int m, int n, int k, const float* A, const float* B, float* C) {
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      for (int l = 0; l < k; ++l) {
        C[i * n + j] += A[i * k + l] * B[l * n + j];
      }
    }
  }
}
)";

class Tasks : public Cli {
 protected:
  void make_product(const std::string& name, const Words& more) {
    write(work() / "product.cpp", product_source);
    Words arguments = {"task",        "new",     name,      "--from",  "product.cpp",
                       "--entry",     "product", "--shape", "A=m,k",   "--shape",
                       "B=k,n",       "--shape", "C=m,n",   "--flops", "2*m*n*k",
                       "--reduction", "k"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Finished made = kernelpro(arguments);
    expect_exit(made, 0);
    EXPECT_THAT(made.output, HasSubstr("`kernelpro task check tasks/" + name + "`"));
    const fs::path file = work() / "tasks" / name / "task.toml";
    write(file, replaced(content_of(file), "m = 256, n = 256, k = 256", "m = 24, n = 24, k = 24"));
  }
};

// A function with a signature of its own goes through all of it and comes back with that signature.
TEST_F(Tasks, AUsersFunctionComesBackFasterWithItsSignature) {
  const std::string entries = KERNELPRO_SOURCE_DIR "/tests/support/entries/";
  const Json made = json(
      {"task", "new", "sums", "--from", entries + "row_sums.cpp", "--entry", "rows::row_sums",
       "--shape", "A=m,n out=m", "--flops", "2*m*n", "--reduction", "n", "--reference", "original"},
      "cli_task_new.json", 0);
  EXPECT_EQ(made["directory"], "tasks/sums");
  const fs::path file = work() / "tasks" / "sums" / "task.toml";
  write(file, replaced(content_of(file), "m = 1024, n = 1024", "m = 128, n = 128"));
  expect_exit(kernelpro({"task", "check", "sums"}), 0);
  const std::string own = content_of(entries + "row_sums.cpp");
  write(work() / "mine.cpp", own);
  write(work() / "wrong.cpp", replaced(own, "out[i] = sum", "out[i] = sum + 1"));
  expect_exit(kernelpro({"evaluate", "sums", "mine.cpp", "--no-timing"}), 0);
  const Finished wrong = kernelpro({"evaluate", "sums", "wrong.cpp", "--no-timing"});
  expect_exit(wrong, 3);
  EXPECT_THAT(wrong.output, HasSubstr("incorrect"));
  expect_exit(kernelpro({"optimize", "sums", "-n", "3", "--timing", "0.02", "--accept-suspect",
                         "--tier", "pragmas", "--quiet"}),
              0);
  for (const char* node : {"1", "2", "3"}) {
    const Json shown = json({"show", "sums-1", node}, "cli_show.json", 0);
    if (shown["certificate"]["verdict"]["outcome"] != "passed") {
      continue;
    }
    expect_exit(kernelpro({"export", "sums-1", node, "home", "--accept-suspect", "--overwrite"}),
                0);
    EXPECT_THAT(content_of(work() / "home" / "kernel.cpp"),
                AllOf(HasSubstr("int row_sums(const float*"), Not(HasSubstr("kp_"))));
    write(work() / "home" / "caller.cpp",
          "#include <cstddef>\nnamespace rows { int row_sums(const float* A, float* out, "
          "std::size_t m, std::size_t n); }\nint main() {\n  const float A[] = {1, 2, 3, 4};\n"
          "  float out[2] = {};\n  return rows::row_sums(A, out, 2, 2) == 0 && out[0] == 5 && "
          "out[1] == 25 ? 0 : 1;\n}\n");
    Command build = command({"/bin/sh", "-c",
                             "c++ -fopenmp kernel.cpp caller.cpp -o caller && ./caller && sh "
                             "build.sh && ./bench --rounds 2"});
    build.directory = (work() / "home").string();
    expect_exit(run_to_end(build), 0);
    return;
  }
  FAIL() << "no candidate passed";
}

TEST_F(Tasks, AUsersFunctionOfOneAxisBecomesATaskThatJudgesAFasterVersion) {
  write(work() / "smooth.cpp", smooth_source);
  write(work() / "faster.cpp", smooth_candidate);
  const Json made = json({"task", "new", "smooth", "--from", "smooth.cpp", "--entry", "smooth",
                          "--flops", "65*n", "--reduction", "64"},
                         "cli_task_new.json", 0);
  EXPECT_EQ(made["directory"], "tasks/smooth");
  const fs::path file = work() / "tasks/smooth/task.toml";
  write(file, replaced(content_of(file), "n = 1048576", "n = 2000"));
  const Finished check = kernelpro({"task", "check", "smooth"});
  expect_exit(check, 0);
  EXPECT_THAT(check.output, AllOf(HasSubstr("note    honest"), HasSubstr("note    broken"),
                                  HasSubstr("smooth: fit to judge by\n")));
  const Finished judged = kernelpro({"evaluate", "smooth", "faster.cpp"});
  expect_exit(judged, 0);
  EXPECT_THAT(judged.output, HasSubstr("times as fast as the baseline"));
}

TEST_F(Tasks, OneIsShown) {
  const Finished shown = kernelpro({"task", "show", "gemm"});
  expect_exit(shown, 0);
  EXPECT_THAT(shown.output, AllOf(HasSubstr("gemm: "), HasSubstr("\nA "), HasSubstr("[m, k]"),
                                  HasSubstr("  right is   gemm of reference.hpp, in double")));
  EXPECT_EQ(json({"task", "show", "gemm"}, "cli_task_show.json", 0)["task"]["name"], "gemm");
  EXPECT_EQ(json({"task", "show", "gemn"}, "cli_task_show.json", 2)["error"]["kind"], "bad_input");
}

TEST_F(Tasks, HeadersBesideACandidateOrInANamedFolderAreItsOwn) {
  write(work() / "smooth.cpp", smooth_source);
  expect_exit(kernelpro({"task", "new", "smooth", "--from", "smooth.cpp", "--entry", "smooth",
                         "--reduction", "64", "--size", "n=2000"}),
              0);
  fs::create_directories(work() / "mine/deep");
  write(work() / "mine/use.cpp", "#include \"part.h\"\n");
  write(work() / "mine/part.h", "#pragma once\n" + std::string(smooth_source));
  expect_exit(kernelpro({"evaluate", "smooth", "mine/use.cpp", "--no-timing"}), 0);
  fs::rename(work() / "mine/part.h", work() / "mine/deep/part.h");
  expect_exit(kernelpro({"evaluate", "smooth", "mine/use.cpp", "--no-timing"}), 3);
  expect_exit(kernelpro({"evaluate", "smooth", "mine/use.cpp", "--no-timing", "--option",
                         "-Imine/deep", "--option", "-O2"}),
              0);
}

TEST_F(Tasks, AFunctionOfThreeAxesThatAddsToItsOutputNeedsShapesAndInout) {
  make_product("product", {"--inout", "C"});
  const Json fit = json({"task", "check", "product"}, "cli_task_check.json", 0);
  EXPECT_EQ(fit["fit"], true) << fit;

  make_product("forgetful", {});
  const Finished unfit = kernelpro({"task", "check", "forgetful"});
  expect_exit(unfit, 2);
  EXPECT_THAT(unfit.output, AllOf(HasSubstr("error   honest"), HasSubstr("mend honest: "),
                                  HasSubstr("--inout"), HasSubstr("not fit to judge by")));
}

TEST_F(Tasks, WhatTheSignatureLeavesOpenIsAskedFor) {
  write(work() / "product.cpp", product_source);
  const Finished open =
      kernelpro({"task", "new", "p", "--from", "product.cpp", "--entry", "product"});
  expect_exit(open, 2);
  EXPECT_THAT(open.errors, AllOf(HasSubstr("the shape of A"), HasSubstr("--shape A=m,n")));
  const Finished absent =
      kernelpro({"task", "new", "p", "--from", "product.cpp", "--entry", "produkt"});
  expect_exit(absent, 2);
  EXPECT_THAT(absent.errors, AllOf(HasSubstr("product.cpp"), HasSubstr("produkt")));
  EXPECT_FALSE(fs::exists(work() / "tasks/p"));
  fs::create_directories(work() / "tasks/taken");
  const Finished taken =
      kernelpro({"task", "new", "taken", "--from", "product.cpp", "--entry", "product", "--shape",
                 "A=m,k", "--shape", "B=k,n", "--shape", "C=m,n"});
  expect_exit(taken, 2);
  EXPECT_THAT(taken.errors, HasSubstr("already exists"));
}

TEST_F(Tasks, WrongOperationsAreAnErrorThatGivesTheRightNumber) {
  copy_task("miscounted", [](const std::string& toml) {
    return replaced(toml, "flops = \"24*n\"", "flops = \"48*n\"");
  });
  const Json check = json({"task", "check", "miscounted"}, "cli_task_check.json", 2);
  EXPECT_EQ(check["fit"], false);
  EXPECT_THAT(check["findings"].dump(),
              AllOf(HasSubstr("\"flops\""), HasSubstr("work.flops says 120000"),
                    HasSubstr("the reference does 60000 operations")));
}

TEST_F(Tasks, ATaskThatAcceptsZerosIsRefused) {
  copy_task("vanishing");
  const fs::path folder = work() / "tasks/vanishing";
  for (const char* file : {"reference.hpp", "baseline.cpp"}) {
    write(folder / file,
          replaced(content_of(folder / file), "y[i] = sum", "y[i] = sum * 1e-30F * 1e-30F"));
  }
  const Finished check = kernelpro({"task", "check", "vanishing"});
  expect_exit(check, 2);
  EXPECT_THAT(check.output, AllOf(HasSubstr("outputs of nothing but zeros would pass"),
                                  HasSubstr("mend zeros: ")));
  const Finished judged = kernelpro({"evaluate", "vanishing", data("fast.cpp")});
  expect_exit(judged, 2);
  EXPECT_THAT(judged.errors, AllOf(HasSubstr("task vanishing: outputs of nothing but zeros"),
                                   HasSubstr("`kernelpro task check` says more")));
}

}  // namespace
}  // namespace kernelpro
