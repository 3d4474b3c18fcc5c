#include "coordinator/memory/memory.hpp"

#include <algorithm>
#include <cmath>

#include "common/base/sort.hpp"
#include "coordinator/memory/lesson_rows.hpp"
#include "coordinator/memory/memory_file.hpp"
#include "coordinator/memory/traits.hpp"

namespace kernelpro::memory {

using store::Blob;
using store::Rows;
using store::Transaction;

namespace {

// Runs after which a lesson that nobody added to counts half.
constexpr double half_life = 200;
// A situation that is less like it is not looked into, and no more than so many are.
constexpr double least_weight = 0.1;
constexpr std::size_t most_situations = 16;
constexpr std::size_t most_lessons = 400;
constexpr std::int64_t most_facts = 12;

struct Near {
  std::int64_t situation = 0;
  double weight = 0;
};

double age_factor(std::int64_t age) {
  return std::exp2(-static_cast<double>(std::max<std::int64_t>(age, 0)) / half_life);
}

// A lesson that did not hold loses weight faster than one that did wins it back.
double record_factor(double confirmed, double contradicted) {
  return (1 + confirmed) / (1 + confirmed + 2 * contradicted);
}

// Without maps: this looks at every situation there is.
class Likeness {
 public:
  explicit Likeness(const Circumstances& here)
      : task_(packed(task_trait_kinds(), here.task)),
        device_(packed(device_trait_kinds(), here.device)) {}

  [[nodiscard]] double of(const std::string& task, const std::string& device) const {
    return std::exp(
        -(apart(task_trait_kinds(), task_, task) + apart(device_trait_kinds(), device_, device)));
  }

 private:
  static double apart(const std::vector<TraitKind>& kinds, const std::vector<float>& here,
                      const std::string& there) {
    const std::vector<float> values = floats_of(there, kinds.size());
    double sum = 0;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      const bool left = !std::isnan(here[i]);
      const bool right = !std::isnan(values[i]);
      if (left && right) {
        sum +=
            kinds[i].weight * std::fabs(static_cast<double>(here[i] - values[i])) / kinds[i].scale;
      } else if (left || right) {
        sum += kinds[i].weight / 2;
      }
    }
    return sum;
  }

  std::vector<float> task_;
  std::vector<float> device_;
};

Result<std::vector<Near>> nearest(store::Database& database, const Circumstances& here) {
  const Likeness likeness(here);
  KP_LET(Rows rows, database.select("SELECT id, task, device FROM situations WHERE backend = ?1",
                                    {std::string_view(name_of(here.backend))}));
  std::vector<Near> found;
  for (;;) {
    KP_LET(const bool more, rows.next());
    if (!more) {
      break;
    }
    const double weight = likeness.of(rows.text(1), rows.text(2));
    if (weight >= least_weight) {
      found.push_back({rows.integer(0), weight});
    }
  }
  sort_keeping_ties(found, [](const Near& a, const Near& b) { return a.weight > b.weight; });
  found.resize(std::min(found.size(), most_situations));
  return found;
}

// How much was measured and seen to hold, where it is like the run's own.
double importance(const Recalled& one) {
  return one.weight * std::sqrt(static_cast<double>(one.tally.tried));
}

}  // namespace

std::filesystem::path memory_file(const std::filesystem::path& store) {
  return store / "memory.sqlite";
}

Result<Memory> Memory::open(const std::filesystem::path& file, StoreMode mode) {
  KP_LET(store::Database database, open_memory_file(file, mode));
  return Memory(std::move(database));
}

Result<std::string> Memory::id() {
  KP_LET(Rows rows, database_.select("SELECT value FROM about WHERE name = 'id'"));
  KP_LET(const bool there, rows.next());
  return there ? rows.text(0) : std::string();
}

Result<std::int64_t> Memory::now() {
  return database_.select_integer("SELECT coalesce(max(number), 0) FROM runs");
}

Result<Recollection> Memory::recall(const Circumstances& circumstances) {
  Recollection out;
  KP_LET(out.memory, id());
  KP_LET(const std::int64_t now, this->now());
  KP_LET(const std::vector<Near> situations, nearest(database_, circumstances));
  for (const Near& near : situations) {
    KP_LET(Rows rows, database_.select(recalled_columns, {near.situation}));
    for (;;) {
      KP_LET(const bool more, rows.next());
      if (!more) {
        break;
      }
      KP_LET(RecalledRow row, read_recalled(rows));
      row.lesson.weight = near.weight * age_factor(now - row.last_run) *
                          record_factor(row.confirmed, row.contradicted);
      out.lessons.push_back(std::move(row.lesson));
    }
  }
  sort_keeping_ties(out.lessons, [](const Recalled& a, const Recalled& b) {
    return importance(a) > importance(b);
  });
  out.lessons.resize(std::min(out.lessons.size(), most_lessons));
  KP_LET(Rows rows, database_.select("SELECT text FROM facts WHERE backend = ?1 AND architecture = "
                                     "?2 ORDER BY last_run DESC, seen DESC, text LIMIT ?3",
                                     {std::string_view(name_of(circumstances.backend)),
                                      circumstances.architecture, most_facts}));
  for (;;) {
    KP_LET(const bool more, rows.next());
    if (!more) {
      return out;
    }
    out.facts.push_back(rows.text(0));
  }
}

}  // namespace kernelpro::memory
