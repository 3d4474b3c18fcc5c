// How long a memory of 100,000 lessons is searched, in processor time, as one JSON value.
//
//   cmake --build --preset release && build/release/bin/memory_lookup >
//   bench/results/memory_lookup-NAME.json
//
// Lessons are spread over situations as runs leave them, 40 of each, and then one of each: the
// worst there can be. Situations lie around 50 of them, so that many are alike. A search opens the
// file, finds the nearest situations and reads their lessons.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "common/base/file.hpp"
#include "coordinator/memory/memory.hpp"
#include "coordinator/memory/traits.hpp"
#include "must.hpp"

namespace {

using namespace kernelpro;
using nlohmann::json;

constexpr int lessons_in_all = 100'000;
constexpr int searches = 21;

double processor_ms() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return 1e3 * static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e6;
}

Traits drawn(const std::vector<memory::TraitKind>& kinds, std::mt19937& draw) {
  std::uniform_int_distribution<int> steps(0, 16);
  Traits traits;
  for (const memory::TraitKind& kind : kinds) {
    traits[kind.name] = kind.scale * steps(draw) / 4.0;
  }
  return traits;
}

// Some traits a step away from those of `middle`.
Traits near(const std::vector<memory::TraitKind>& kinds, const Traits& middle, std::mt19937& draw) {
  std::uniform_int_distribution<int> steps(-2, 2);
  Traits traits = middle;
  for (const memory::TraitKind& kind : kinds) {
    traits[kind.name] += kind.scale * steps(draw) / 16.0;
  }
  return traits;
}

struct Middle {
  Traits task;
  Traits device;
};

std::vector<Lesson> drawn_lessons(int of_each, std::mt19937& draw) {
  std::uniform_int_distribution<int> moves(0, 59);
  std::uniform_real_distribution<double> gains(-0.3, 0.9);
  std::vector<Middle> middles(50);
  for (Middle& middle : middles) {
    middle.task = drawn(memory::task_trait_kinds(), draw);
    middle.device = drawn(memory::device_trait_kinds(), draw);
  }
  std::vector<Lesson> lessons;
  Lesson lesson;
  lesson.bottleneck = "latency";
  for (int i = 0; i < lessons_in_all; ++i) {
    if (i % of_each == 0) {
      const Middle& middle = middles[static_cast<std::size_t>(i / of_each) % middles.size()];
      lesson.task = near(memory::task_trait_kinds(), middle.task, draw);
      lesson.device = near(memory::device_trait_kinds(), middle.device, draw);
    }
    lesson.code = drawn(memory::code_trait_kinds(), draw);
    lesson.move = "move_" + std::to_string(moves(draw));
    lesson.tally = {};
    lesson.tally.add_gain(gains(draw));
    lessons.push_back(lesson);
  }
  return lessons;
}

json measured(const std::filesystem::path& folder, int of_each) {
  std::mt19937 draw(1);
  const std::vector<Lesson> lessons = drawn_lessons(of_each, draw);
  const std::filesystem::path file = folder / ("memory_" + std::to_string(of_each) + ".sqlite");
  {
    memory::Memory memory = must(memory::Memory::open(file, StoreMode::write));
    (void)must(memory.add(lessons, {}, "drawn"));
  }
  std::vector<double> times;
  std::size_t found = 0;
  for (int i = 0; i < searches; ++i) {
    const Lesson& like = lessons[static_cast<std::size_t>(i) * 4001 % lessons.size()];
    const double start = processor_ms();
    memory::Memory memory = must(memory::Memory::open(file, StoreMode::read));
    const Recollection told =
        must(memory.recall({Backend::cpu, "aarch64", like.task, like.device}));
    times.push_back(processor_ms() - start);
    found += told.lessons.size();
  }
  std::ranges::sort(times);
  return {{"lessons", lessons.size()},
          {"lessons_of_a_situation", of_each},
          {"file_bytes", std::filesystem::file_size(file)},
          {"searches", searches},
          {"median_processor_ms", times[searches / 2]},
          {"most_processor_ms", times.back()},
          {"found_on_average", static_cast<double>(found) / searches}};
}

}  // namespace

int main() {
  const ScratchDir folder = must(ScratchDir::create("memory-lookup"));
  const json out = {{"bench", "memory_lookup"},
                    {"version", KERNELPRO_VERSION},
                    {"as_runs_leave_them", measured(folder.path(), 40)},
                    {"each_in_a_situation_of_its_own", measured(folder.path(), 1)}};
  std::printf("%s\n", out.dump(2).c_str());
  return 0;
}
