// What a run adds to a memory, and what it says of the lessons that it was told.
#include <algorithm>
#include <cmath>
#include <map>

#include "coordinator/memory/lesson_rows.hpp"
#include "coordinator/memory/memory.hpp"
#include "coordinator/memory/traits.hpp"
#include "coordinator/store/lesson_json.hpp"

namespace kernelpro::memory {

using store::Rows;
using store::Transaction;

namespace {

// A lesson holds where what was measured is that near to it: as logarithms.
constexpr double always_near = 0.1;
constexpr double spreads_near = 1.5;
constexpr double share_near = 0.5;

bool holds(const Tally& lesson, double measured) {
  const double near = std::max(
      {always_near, spreads_near * lesson.spread, share_near * std::max(lesson.useful, measured)});
  return std::fabs(lesson.useful - measured) <= near;
}

bool may_be_kept(const Observation& one) {
  return is_plain_name(one.move) && is_plain_name(one.situation.bottleneck) &&
         (one.finding.empty() || is_plain_name(one.finding)) &&
         (!one.log_gain || std::isfinite(*one.log_gain));
}

Lesson lesson_of(const Observation& one) {
  Lesson lesson;
  lesson.code = one.situation.code;
  lesson.bottleneck = one.situation.bottleneck;
  lesson.finding = one.finding;
  lesson.move = one.move;
  lesson.site = is_size(one.site) && is_plain_name(one.site) ? one.site : "";
  if (one.log_gain) {
    lesson.tally.add_gain(*one.log_gain);
  } else {
    lesson.tally.add_failure(one.outcome);
  }
  return lesson;
}

// How far each lesson that a run was told was borne out by it.
struct Bearing {
  double confirmed = 0;
  double contradicted = 0;
};

std::map<std::int64_t, Bearing> bearings(const RunLessons& run) {
  std::map<std::int64_t, Bearing> out;
  for (const Recalled& lesson : run.told.lessons) {
    for (const Observation& one : run.observations) {
      if (one.move != lesson.move || (is_size(lesson.site) && one.site != lesson.site)) {
        continue;
      }
      const double like = likeness(lesson, one.situation);
      const double measured = std::max(0.0, one.log_gain.value_or(0));
      Bearing& bearing = out[lesson.id];
      (holds(lesson.tally, measured) ? bearing.confirmed : bearing.contradicted) += like;
    }
  }
  return out;
}

}  // namespace

Result<std::int64_t> Memory::learned_up_to(const std::string& run_key) {
  return database_.select_integer("SELECT coalesce((SELECT learned FROM runs WHERE key = ?1), 0)",
                                  {run_key});
}

Result<std::int64_t> Memory::situation_id(Backend backend, const Traits& task,
                                          const Traits& device) {
  const std::vector<float> of_task = packed(task_trait_kinds(), task);
  const std::vector<float> of_device = packed(device_trait_kinds(), device);
  const std::string name = name_of(backend);
  KP_TRY(database_.execute(
      "INSERT OR IGNORE INTO situations (backend, task, device) VALUES (?1, ?2, ?3)",
      {name, blob_of(of_task), blob_of(of_device)}));
  return database_.select_integer(
      "SELECT id FROM situations WHERE backend = ?1 AND task = ?2 AND device = ?3",
      {name, blob_of(of_task), blob_of(of_device)});
}

Status Memory::add_lesson(std::int64_t situation, const Lesson& lesson, std::int64_t last_run) {
  const std::vector<float> code = packed(code_trait_kinds(), lesson.code);
  Tally tally = lesson.tally;
  double confirmed = lesson.confirmed;
  double contradicted = lesson.contradicted;
  {
    KP_LET(Rows rows,
           database_.select(
               "SELECT id, code, bottleneck, finding, move, site, tried, failed, mean, spread, "
               "useful, causes, confirmed, contradicted, last_run FROM lessons WHERE situation = "
               "?1 AND code = ?2 AND bottleneck = ?3 AND finding = ?4 AND move = ?5 AND site = ?6",
               {situation, blob_of(code), lesson.bottleneck, lesson.finding, lesson.move,
                lesson.site}));
    KP_LET(const bool known, rows.next());
    if (known) {
      KP_LET(const RecalledRow before, read_recalled(rows));
      tally.merge(before.lesson.tally);
      confirmed += before.confirmed;
      contradicted += before.contradicted;
      last_run = std::max(last_run, before.last_run);
    }
  }
  return database_.execute(
      "INSERT INTO lessons (situation, code, bottleneck, finding, move, site, tried, failed, mean, "
      "spread, useful, causes, confirmed, contradicted, last_run) VALUES (?1, ?2, ?3, ?4, ?5, ?6, "
      "?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15) ON CONFLICT (situation, code, bottleneck, "
      "finding, move, site) DO UPDATE SET tried = ?7, failed = ?8, mean = ?9, spread = ?10, useful "
      "= ?11, causes = ?12, confirmed = ?13, contradicted = ?14, last_run = ?15",
      {situation, blob_of(code), lesson.bottleneck, lesson.finding, lesson.move, lesson.site,
       tally.tried, tally.failed, tally.mean, tally.spread, tally.useful, causes_text(tally),
       confirmed, contradicted, last_run});
}

Status Memory::add_fact(const LearnedFact& fact, std::int64_t last_run) {
  return database_.execute(
      "INSERT INTO facts (backend, architecture, text, seen, last_run) VALUES (?1, ?2, ?3, ?4, ?5) "
      "ON CONFLICT DO UPDATE SET seen = seen + ?4, last_run = max(last_run, ?5)",
      {std::string_view(name_of(fact.backend)), fact.architecture, fact.text, fact.seen, last_run});
}

Status Memory::weigh(const RunLessons& run, std::int64_t number) {
  KP_LET(const std::string own, id());
  if (run.told.memory != own) {
    return {};
  }
  for (const auto& [lesson, bearing] : bearings(run)) {
    const bool held = bearing.confirmed > bearing.contradicted;
    KP_TRY(database_.execute(
        "UPDATE lessons SET confirmed = confirmed + ?2, contradicted = "
        "contradicted + ?3, last_run = max(last_run, ?4) WHERE id = ?1",
        {lesson, bearing.confirmed, bearing.contradicted, held ? number : std::int64_t{0}}));
  }
  return {};
}

Status Memory::learn(const RunLessons& run) {
  KP_LET(Transaction transaction, Transaction::begin(database_));
  KP_LET(const std::int64_t before, learned_up_to(run.key));
  if (run.learned <= before) {
    return {};
  }
  KP_TRY(
      database_.execute("INSERT INTO runs (key, learned) VALUES (?1, ?2) ON CONFLICT (key) DO "
                        "UPDATE SET learned = ?2",
                        {run.key, run.learned}));
  KP_LET(const std::int64_t number, now());
  KP_TRY(weigh(run, number));
  const Circumstances& here = run.circumstances;
  if (!run.observations.empty()) {
    KP_LET(const std::int64_t situation, situation_id(here.backend, here.task, here.device));
    for (const Observation& one : run.observations) {
      if (may_be_kept(one)) {
        KP_TRY(add_lesson(situation, lesson_of(one), number));
      }
    }
  }
  for (const std::string& text : run.facts) {
    if (is_plain_line(text)) {
      KP_TRY(add_fact({here.backend, here.architecture, text, 1, 0}, number));
    }
  }
  return transaction.commit();
}

}  // namespace kernelpro::memory
