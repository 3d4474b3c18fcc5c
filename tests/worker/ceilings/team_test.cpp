#include "worker/ceilings/team.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "worker/ceilings/machine.hpp"

namespace kernelpro {
namespace {

using testing::Each;
using testing::Gt;
using testing::SizeIs;

// What the kernels below were called with. Kernels are plain functions, so it is global; every test
// clears it first.
struct Calls {
  std::mutex mutex;
  std::set<std::thread::id> threads;
  std::set<double*> memories;
  int count = 0;
  std::string complaint;
};

Calls& calls() {
  static Calls instance;
  return instance;
}

void forget_calls() {
  const std::lock_guard guard(calls().mutex);
  calls().threads.clear();
  calls().memories.clear();
  calls().count = 0;
  calls().complaint.clear();
}

void note_call(double* memory, const std::string& complaint) {
  const std::lock_guard guard(calls().mutex);
  calls().threads.insert(std::this_thread::get_id());
  calls().memories.insert(memory);
  ++calls().count;
  if (!complaint.empty()) {
    calls().complaint = complaint;
  }
}

bool is_aligned(const double* memory) {
  return reinterpret_cast<std::uintptr_t>(memory) % 64 == 0;
}

double three_arrays(double* a, double* b, double* c, std::size_t n) {
  std::string complaint;
  if (n == 0 || n % 128 != 0) {
    complaint = "n is " + std::to_string(n);
  } else if (!is_aligned(a) || !is_aligned(b) || !is_aligned(c)) {
    complaint = "an array is not aligned";
  } else if (b - a < static_cast<std::ptrdiff_t>(n) || c - b < static_cast<std::ptrdiff_t>(n)) {
    complaint = "arrays overlap";
  } else if (a[0] == 0 || c[n - 1] == 0) {
    complaint = "memory was not touched";
  }
  note_call(a, complaint);
  return static_cast<double>(n);
}

// NOLINTNEXTLINE(readability-non-const-parameter): the form of a kernel.
double no_memory(double* a, double* b, double* c, std::size_t n) {
  note_call(a, a == nullptr && b == nullptr && c == nullptr && n > 0 ? "" : "memory was given");
  return static_cast<double>(n);
}

// As if another process had the processor for a while.
double off_its_processor(double* a, double* /*b*/, double* /*c*/, std::size_t n) {
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  note_call(a, "");
  return static_cast<double>(n);
}

// Disturbed while it warms up and in two repeats, with a rate of next to nothing then.
double off_at_first(double* a, double* b, double* c, std::size_t /*n*/) {
  if (calls().count < 3) {
    return off_its_processor(a, b, c, 1);
  }
  note_call(a, "");
  return 1e15;
}

TeamSettings team_of(std::size_t threads) {
  TeamSettings settings;
  settings.processors.assign(threads, allowed_processors().front());
  settings.memory_bytes = static_cast<std::int64_t>(threads) << 22;
  settings.repeats = 2;
  return settings;
}

TEST(Team, GivesEachThreadItsOwnTouchedMemoryAndOneRateARepeat) {
  forget_calls();
  const auto rates = run_team(team_of(3), {{.kernel = three_arrays, .arrays = 3}}, {});
  ASSERT_TRUE(rates) << rates.error().text();
  ASSERT_THAT(*rates, SizeIs(1));
  EXPECT_THAT(rates->front(), SizeIs(testing::AllOf(Gt(0U), testing::Le(6U))));
  EXPECT_THAT(rates->front(), Each(Gt(0)));
  EXPECT_EQ(calls().complaint, "");
  EXPECT_THAT(calls().threads, SizeIs(3));
  EXPECT_THAT(calls().memories, SizeIs(3));
  EXPECT_GE(calls().count, 3 * 2) << "at least one repeat and one to warm up, by three threads";
}

TEST(Team, GivesNoMemoryToKernelsThatTakeNone) {
  forget_calls();
  const auto rates = run_team(team_of(1), {{.kernel = no_memory, .arrays = 0}}, {});
  ASSERT_TRUE(rates) << rates.error().text();
  EXPECT_EQ(calls().complaint, "");
}

TEST(Team, TriesThreeTimesAsOftenWhenThreadsLoseTheirProcessors) {
  forget_calls();
  const auto rates = run_team(team_of(1), {{.kernel = off_its_processor, .arrays = 0}}, {});
  ASSERT_TRUE(rates) << rates.error().text();
  EXPECT_EQ(calls().count, 1 + (3 * 2));
  EXPECT_THAT(rates->front(), SizeIs(3 * 2)) << "when all were disturbed, all count";
}

TEST(Team, CountsOnlyWhatWasNotDisturbed) {
  forget_calls();
  const auto rates = run_team(team_of(1), {{.kernel = off_at_first, .arrays = 0}}, {});
  ASSERT_TRUE(rates) << rates.error().text();
  EXPECT_THAT(rates->front(), Each(Gt(1000.0))) << "a disturbed repeat counted";
}

TEST(Team, StopsWhenAsked) {
  forget_calls();
  std::stop_source stop;
  stop.request_stop();
  const auto rates = run_team(team_of(2), {{.kernel = no_memory, .arrays = 0}}, stop.get_token());
  ASSERT_FALSE(rates);
  EXPECT_EQ(rates.error().kind, ErrorKind::interrupted);
  EXPECT_EQ(calls().count, 0);
}

TEST(Team, SaysWhenMemoryIsRefused) {
  TeamSettings settings = team_of(2);
  settings.memory_bytes = std::int64_t{1} << 60;
  const auto rates = run_team(settings, {{.kernel = three_arrays, .arrays = 3}}, {});
  ASSERT_FALSE(rates);
  EXPECT_EQ(rates.error().kind, ErrorKind::environment);
  EXPECT_THAT(rates.error().message, testing::HasSubstr("the system refused 2 threads with "));
}

}  // namespace
}  // namespace kernelpro
