// The number of threads that a candidate is given is a rule.
#include <gmock/gmock.h>

#include <functional>
#include <string>
#include <thread>

#include "fixture.hpp"

namespace kernelpro {
namespace {

using ThreadCount = JudgeTest;

// As many threads as it says work for so much processor time each, then the right result is
// written. Its first calls only sleep.
std::string source_with(int threads, int milliseconds = 20, int idle_calls = 0) {
  return "#include \"kernelpro/candidate.h\"\n#include <chrono>\n#include <ctime>\n#include "
         "<thread>\n#include "
         "<vector>\n"
         "static void work() {\n"
         "  timespec now{};\n"
         "  do { clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now); } while (now.tv_nsec < " +
         std::to_string(milliseconds) +
         "000000);\n"
         "}\n"
         "extern \"C\" int kp_launch(const kp_context* c, const kp_tensor* t, int32_t) {\n"
         "  std::vector<std::thread> all;\n"
         "  static int calls = 0;\n"
         "  if (++calls <= " +
         std::to_string(idle_calls) +
         ") { std::this_thread::sleep_for(std::chrono::milliseconds(300)); }\n"
         "  else for (int i = 0; i < " +
         std::to_string(threads) +
         "; ++i) { all.emplace_back(work); }\n"
         "  for (std::thread& one : all) { one.join(); }\n"
         "  const float *x = (const float*)t[0].data, *y = (const float*)t[1].data;\n"
         "  for (int64_t i = 0; i < c->axes[0]; ++i) { ((float*)t[2].data)[i] = x[i] + y[i]; }\n"
         "  return 0;\n}\n";
}

// Where other programs keep the processors busy, two threads may get no more than one would: it is
// tried until they do.
Verdict caught_on(const std::function<Verdict()>& judge) {
  constexpr int most_tries = 20;
  Verdict verdict;
  for (int tries = 0; tries < most_tries && verdict.rule.empty(); ++tries) {
    verdict = judge();
  }
  return verdict;
}

TEST_F(ThreadCount, IsARuleAndNoAdvice) {
  ASSERT_NO_FATAL_FAILURE(open(testing::small_task()));
  EXPECT_EQ(verdict_on(untimed(source_with(1))).rule, "");
  if (std::thread::hardware_concurrency() < 2) {
    GTEST_SKIP() << "one processor has no room for two threads";
  }
  const Verdict verdict = caught_on([this] { return verdict_on(untimed(source_with(2))); });
  EXPECT_EQ(verdict.outcome, Outcome::cheated);
  EXPECT_EQ(verdict.rule, "threads");
}

// Within what a call may use beyond its thread, but in every call.
TEST_F(ThreadCount, IsCountedOverAllCalls) {
  if (std::thread::hardware_concurrency() < 2) {
    GTEST_SKIP() << "one processor has no room for two threads";
  }
  ASSERT_NO_FATAL_FAILURE(open(testing::small_task()));
  EXPECT_EQ(verdict_on(untimed(source_with(1, 2))).rule, "");
  const Verdict verdict = caught_on([this] { return verdict_on(untimed(source_with(2, 2))); });
  EXPECT_EQ(verdict.rule, "threads");
  EXPECT_THAT(verdict.evidence, ::testing::Contains(::testing::HasSubstr("over all its calls")));
}

// A check may take long for nothing: what was not used there is not there to be used later.
TEST_F(ThreadCount, IsNotSavedUp) {
  if (std::thread::hardware_concurrency() < 2) {
    GTEST_SKIP() << "one processor has no room for two threads";
  }
  ASSERT_NO_FATAL_FAILURE(open(testing::small_task()));
  const Verdict verdict = caught_on([this] { return verdict_on(untimed(source_with(2, 2, 3))); });
  EXPECT_EQ(verdict.rule, "threads");
}

}  // namespace
}  // namespace kernelpro
