// Lessons across runs, tasks and devices: written by every run, found by traits.
//
// A lesson only says in which order things are tried. What counts is the judge's verdict: a wrong
// lesson costs evaluations and nothing else.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/lesson.hpp"
#include "coordinator/memory/situation.hpp"
#include "coordinator/store/database.hpp"
#include "coordinator/store/store.hpp"

namespace kernelpro::memory {

// The memory of a store.
[[nodiscard]] std::filesystem::path memory_file(const std::filesystem::path& store);

// What a run is about, as lessons are found by it.
struct Circumstances {
  Backend backend = Backend::cpu;
  std::string architecture;
  Traits task;
  Traits device;
};

// One judged node under a parent that passed.
struct Observation {
  Situation situation;  // of its parent
  std::string finding;
  std::string move;
  std::string site;
  std::optional<double> log_gain;         // none: it failed
  Outcome outcome = Outcome::not_judged;  // how
};

// What a run has to teach.
struct RunLessons {
  std::string key;           // the same for a run that is taken up again
  std::int64_t learned = 0;  // the last event of the run that is in `observations`
  Circumstances circumstances;
  std::vector<Observation> observations;
  std::vector<std::string> facts;
  Recollection told;  // what the run was told: its lessons are confirmed or contradicted
};

struct MemorySummary {
  std::int64_t lessons = 0;
  std::int64_t situations = 0;
  std::int64_t facts = 0;
  std::int64_t runs = 0;
};

// What to take out: all that fits every wish; without a wish nothing.
struct ForgetWishes {
  bool all = false;
  std::string move;
  std::optional<std::int64_t> older;  // lessons and facts that many runs old
};

struct MemoryFilter {
  std::string move;         // empty: all
  std::int64_t limit = -1;  // those tried most often; -1: all
};

// Not for two threads at once; processes may share the file.
class Memory {
 public:
  [[nodiscard]] static Result<Memory> open(const std::filesystem::path& file, StoreMode mode);

  // What is worth telling a run in these circumstances, the weightiest first.
  [[nodiscard]] Result<Recollection> recall(const Circumstances& circumstances);

  // Up to which event of the run of that key was learned; 0: nothing.
  [[nodiscard]] Result<std::int64_t> learned_up_to(const std::string& run_key);
  // All of it, or nothing where that was learned already.
  [[nodiscard]] Status learn(const RunLessons& run);

  [[nodiscard]] Result<MemorySummary> summary();
  [[nodiscard]] Result<std::vector<Lesson>> lessons(const MemoryFilter& filter = {});
  [[nodiscard]] Result<std::vector<LearnedFact>> facts();
  // Adds what another memory holds; false: this very content was added before. `hash` names it.
  [[nodiscard]] Result<bool> add(const std::vector<Lesson>& lessons,
                                 const std::vector<LearnedFact>& facts, const std::string& hash);
  // Returns how many lessons and facts went, or would go.
  [[nodiscard]] Result<MemorySummary> forget(const ForgetWishes& wishes, bool only_count);

 private:
  explicit Memory(store::Database database) : database_(std::move(database)) {}
  [[nodiscard]] Result<std::string> id();
  // The number of the newest run.
  [[nodiscard]] Result<std::int64_t> now();
  [[nodiscard]] Result<std::int64_t> situation_id(Backend backend, const Traits& task,
                                                  const Traits& device);
  [[nodiscard]] Status add_lesson(std::int64_t situation, const Lesson& lesson,
                                  std::int64_t last_run);
  [[nodiscard]] Status add_fact(const LearnedFact& fact, std::int64_t last_run);
  [[nodiscard]] Status weigh(const RunLessons& run, std::int64_t number);

  store::Database database_;
};

}  // namespace kernelpro::memory
