// Which kernels of a trace are looked at, and by which of their launches.
#include "worker/profile/launch_choice.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace kernelpro {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

// A trace of launches one after the other: name and module, and how long each took.
class Made {
 public:
  Made& launch(const std::string& name, std::int64_t duration, const std::string& module = "m") {
    TracedLaunch one;
    one.index = static_cast<std::int64_t>(trace_.launches.size());
    one.name = name;
    one.module = module;
    one.start_ns = trace_.end_ns;
    one.end_ns = one.start_ns + duration;
    one.grid = {8, 1, 1};
    one.block = {128, 1, 1};
    trace_.end_ns = one.end_ns;
    trace_.launches.push_back(one);
    return *this;
  }

  Made& grid(std::int64_t blocks) {
    trace_.launches.back().grid = {blocks, 1, 1};
    return *this;
  }

  [[nodiscard]] const Trace& trace() const { return trace_; }

 private:
  Trace trace_;
};

std::vector<std::string> names(const LaunchChoice& choice) {
  std::vector<std::string> out;
  for (const KernelProfile& kernel : choice.kernels) {
    out.push_back(kernel.mangled);
  }
  return out;
}

std::vector<std::int64_t> indices(const ChosenWindow& window) {
  std::vector<std::int64_t> out;
  for (const TracedLaunch& launch : window.launches) {
    out.push_back(launch.index);
  }
  return out;
}

// What a profiler does with a window: it counts all launches, and takes those of the names.
std::vector<std::int64_t> profiled(const Trace& trace, const LaunchWindow& window) {
  std::vector<std::int64_t> out;
  for (std::int64_t index = 0; index < std::ssize(trace.launches); ++index) {
    const auto launch =
        std::find_if(trace.launches.begin(), trace.launches.end(),
                     [index](const TracedLaunch& one) { return one.index == index; });
    const bool named = std::find(window.kernels.begin(), window.kernels.end(), launch->name) !=
                       window.kernels.end();
    if (index >= window.skip && named && std::ssize(out) < window.count) {
      out.push_back(index);
    }
  }
  return out;
}

void expect_windows_fit(const Trace& trace, const LaunchChoice& choice) {
  for (const ChosenWindow& window : choice.windows) {
    EXPECT_EQ(profiled(trace, window.window), indices(window));
  }
  for (const KernelProfile& kernel : choice.kernels) {
    const bool held = std::any_of(
        choice.windows.begin(), choice.windows.end(), [&kernel](const ChosenWindow& window) {
          return std::any_of(window.launches.begin(), window.launches.end(),
                             [&kernel](const TracedLaunch& launch) {
                               return launch.index == kernel.launch &&
                                      launch.name == kernel.mangled &&
                                      launch.module == kernel.module;
                             });
        });
    EXPECT_TRUE(held) << kernel.mangled << " at " << kernel.launch;
  }
}

TEST(LaunchChoice, NothingLaunchedIsNothingChosen) {
  const LaunchChoice choice = choose_launches(Trace(), 0.9, 8);
  EXPECT_THAT(choice.kernels, IsEmpty());
  EXPECT_THAT(choice.windows, IsEmpty());
}

TEST(LaunchChoice, NoKernelWantedIsNothingChosen) {
  const Trace trace = Made().launch("a", 10).trace();
  EXPECT_THAT(choose_launches(trace, 0.9, 0).windows, IsEmpty());
}

TEST(LaunchChoice, TakesTheFewestKernelsThatMakeUpTheTime) {
  const Trace trace = Made()
                          .launch("small", 60)
                          .launch("large", 600)
                          .launch("tiny", 40)
                          .launch("middle", 300)
                          .trace();
  const LaunchChoice choice = choose_launches(trace, 0.9, 8);
  EXPECT_THAT(names(choice), ElementsAre("large", "middle"));
  EXPECT_DOUBLE_EQ(choice.kernels[0].share, 0.6);
  EXPECT_DOUBLE_EQ(choice.kernels[1].share, 0.3);
  EXPECT_THAT(names(choose_launches(trace, 0.91, 8)), ElementsAre("large", "middle", "small"));
  EXPECT_THAT(names(choose_launches(trace, 1, 8)), ElementsAre("large", "middle", "small", "tiny"));
  EXPECT_THAT(names(choose_launches(trace, 1, 1)), ElementsAre("large"));
}

TEST(LaunchChoice, CountsTheTimeOfAllLaunchesOfAKernel) {
  Made made;
  made.launch("once", 100);
  for (int i = 0; i < 5; ++i) {
    made.launch("often", 50);
  }
  const LaunchChoice choice = choose_launches(made.trace(), 0.5, 8);
  ASSERT_THAT(names(choice), ElementsAre("often"));
  EXPECT_EQ(choice.kernels[0].launches, 5);
  EXPECT_DOUBLE_EQ(choice.kernels[0].share, 250.0 / 350);
}

TEST(LaunchChoice, ALaunchOfMedianDurationStandsForItsKernel) {
  const Trace trace =
      Made().launch("k", 900).grid(90).launch("k", 20).grid(2).launch("k", 10).grid(1).trace();
  const LaunchChoice choice = choose_launches(trace, 0.9, 8);
  ASSERT_THAT(choice.kernels, SizeIs(1));
  EXPECT_EQ(choice.kernels[0].launch, 1);
  EXPECT_EQ(choice.kernels[0].duration_ns, 20);
  EXPECT_THAT(choice.kernels[0].grid, ElementsAre(2, 1, 1));
  ASSERT_THAT(choice.windows, SizeIs(1));
  EXPECT_EQ(choice.windows[0].window.skip, 1);
  EXPECT_EQ(choice.windows[0].window.count, 1);
}

TEST(LaunchChoice, KernelsOfOneNameInTwoModulesAreTwo) {
  const Trace trace =
      Made().launch("k", 100, "first").launch("other", 1).launch("k", 300, "second").trace();
  const LaunchChoice choice = choose_launches(trace, 0.9, 8);
  ASSERT_THAT(names(choice), ElementsAre("k", "k"));
  EXPECT_EQ(choice.kernels[0].module, "second");
  EXPECT_EQ(choice.kernels[0].launch, 2);
  EXPECT_EQ(choice.kernels[0].launches, 1);
  EXPECT_EQ(choice.kernels[1].module, "first");
  EXPECT_EQ(choice.kernels[1].launch, 0);
  ASSERT_THAT(choice.windows, SizeIs(1));
  EXPECT_THAT(choice.windows[0].window.kernels, ElementsAre("k"));
  EXPECT_THAT(indices(choice.windows[0]), ElementsAre(0, 2));
  expect_windows_fit(trace, choice);
}

// The profiler knows names only: a launch of the same name that nobody asked for is counted.
TEST(LaunchChoice, AWindowCountsTheOtherModulesLaunches) {
  const Trace trace = Made()
                          .launch("k", 1, "other")
                          .launch("k", 500, "m")
                          .launch("k", 1, "other")
                          .launch("last", 500)
                          .trace();
  const LaunchChoice choice = choose_launches(trace, 0.9, 8);
  ASSERT_THAT(names(choice), UnorderedElementsAre("k", "last"));
  ASSERT_THAT(choice.windows, SizeIs(1));
  EXPECT_THAT(indices(choice.windows[0]), ElementsAre(1, 2, 3));
  expect_windows_fit(trace, choice);
}

TEST(LaunchChoice, OneWindowHoldsKernelsThatRunInTurn) {
  Made made;
  for (int i = 0; i < 100; ++i) {
    made.launch("a", 50 + i).launch("noise", 1).launch("b", 40).launch("c", 30);
  }
  const LaunchChoice choice = choose_launches(made.trace(), 0.95, 8);
  ASSERT_THAT(names(choice), ElementsAre("a", "b", "c"));
  ASSERT_THAT(choice.windows, SizeIs(1));
  EXPECT_THAT(choice.windows[0].window.kernels, UnorderedElementsAre("a", "b", "c"));
  // Those nearest to the median launch of the main kernel, not those of median time.
  EXPECT_LE(choice.windows[0].window.count, 4);
  EXPECT_EQ(choice.kernels[0].duration_ns, 100);
  expect_windows_fit(made.trace(), choice);
}

TEST(LaunchChoice, KernelsFarApartGetAWindowEach) {
  Made made;
  made.launch("before", 4000);
  for (int i = 0; i < 50; ++i) {
    made.launch("main", 100);
  }
  made.launch("after", 3000);
  const LaunchChoice choice = choose_launches(made.trace(), 1, 8);
  ASSERT_THAT(names(choice), ElementsAre("main", "before", "after"));
  ASSERT_THAT(choice.windows, SizeIs(3));
  for (const ChosenWindow& window : choice.windows) {
    EXPECT_EQ(window.window.count, 1);
    EXPECT_THAT(window.window.kernels, SizeIs(1));
  }
  EXPECT_EQ(choice.windows[1].window.skip, 0);
  EXPECT_EQ(choice.windows[2].window.skip, 51);
  expect_windows_fit(made.trace(), choice);
}

// Launches lie in the order they ran, which need not be the one they were asked for in.
TEST(LaunchChoice, WindowsGoByTheOrderOfAsking) {
  Trace trace = Made().launch("a", 100).launch("b", 200).launch("c", 300).trace();
  trace.launches[0].index = 2;
  trace.launches[2].index = 0;
  const LaunchChoice choice = choose_launches(trace, 1, 8);
  ASSERT_THAT(choice.windows, SizeIs(1));
  EXPECT_THAT(indices(choice.windows[0]), ElementsAre(0, 1, 2));
  EXPECT_EQ(choice.windows[0].launches[0].name, "c");
  expect_windows_fit(trace, choice);
}

// A part of a program begins with any index.
TEST(LaunchChoice, IndicesAreThoseOfTheProcess) {
  Trace trace = Made().launch("a", 100).launch("a", 100).trace();
  trace.launches[0].index = 40;
  trace.launches[1].index = 41;
  const LaunchChoice choice = choose_launches(trace, 1, 8);
  ASSERT_THAT(choice.windows, SizeIs(1));
  EXPECT_GE(choice.windows[0].window.skip, 40);
  EXPECT_EQ(choice.windows[0].window.skip, choice.kernels[0].launch);
}

TEST(LaunchChoice, NamesAreForPeopleToo) {
  const Trace trace = Made().launch("_Z5scalePf", 9).launch("plain_c", 5).trace();
  const LaunchChoice choice = choose_launches(trace, 1, 8);
  ASSERT_THAT(choice.kernels, SizeIs(2));
  EXPECT_EQ(choice.kernels[0].name, "scale(float*)");
  EXPECT_EQ(choice.kernels[0].mangled, "_Z5scalePf");
  EXPECT_EQ(choice.kernels[1].name, "plain_c");
}

// Times that no clock can have given are no time, and no reason to fail.
TEST(LaunchChoice, TakesTimesThatCannotBe) {
  Trace trace = Made().launch("a", -5).launch("b", 0).trace();
  const LaunchChoice choice = choose_launches(trace, 0.9, 8);
  EXPECT_THAT(names(choice), UnorderedElementsAre("a", "b"));
  EXPECT_EQ(choice.kernels[0].share, 0);
  expect_windows_fit(trace, choice);
}

}  // namespace
}  // namespace kernelpro
