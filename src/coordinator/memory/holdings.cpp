// What a memory holds: listed, added from elsewhere, taken out.
#include <algorithm>

#include "coordinator/memory/lesson_rows.hpp"
#include "coordinator/memory/memory.hpp"
#include "coordinator/memory/traits.hpp"

namespace kernelpro::memory {

using store::Rows;
using store::Transaction;

Result<MemorySummary> Memory::summary() {
  MemorySummary out;
  KP_LET(out.lessons, database_.select_integer("SELECT count(*) FROM lessons"));
  KP_LET(out.situations, database_.select_integer("SELECT count(*) FROM situations"));
  KP_LET(out.facts, database_.select_integer("SELECT count(*) FROM facts"));
  KP_LET(out.runs, database_.select_integer("SELECT count(*) FROM runs"));
  return out;
}

Result<std::vector<Lesson>> Memory::lessons(const MemoryFilter& filter) {
  KP_LET(const std::int64_t now, this->now());
  KP_LET(Rows rows,
         database_.select(
             "SELECT lessons.id, code, bottleneck, finding, move, site, tried, failed, mean, "
             "spread, useful, causes, confirmed, contradicted, last_run, backend, task, device "
             "FROM lessons JOIN situations ON situations.id = situation WHERE ?1 = '' OR move = ?1 "
             "ORDER BY tried DESC, lessons.id LIMIT ?2",
             {filter.move, filter.limit}));
  std::vector<Lesson> out;
  for (;;) {
    KP_LET(const bool more, rows.next());
    if (!more) {
      return out;
    }
    KP_LET(RecalledRow row, read_recalled(rows));
    Lesson lesson;
    lesson.backend = parse_backend(rows.text(15)).value_or(Backend::cpu);
    lesson.task =
        unpacked(task_trait_kinds(), floats_of(rows.text(16), task_trait_kinds().size()).data());
    lesson.device = unpacked(device_trait_kinds(),
                             floats_of(rows.text(17), device_trait_kinds().size()).data());
    lesson.code = std::move(row.lesson.code);
    lesson.bottleneck = std::move(row.lesson.bottleneck);
    lesson.finding = std::move(row.lesson.finding);
    lesson.move = std::move(row.lesson.move);
    lesson.site = std::move(row.lesson.site);
    lesson.tally = std::move(row.lesson.tally);
    lesson.confirmed = row.confirmed;
    lesson.contradicted = row.contradicted;
    lesson.age = std::max<std::int64_t>(0, now - row.last_run);
    out.push_back(std::move(lesson));
  }
}

Result<std::vector<LearnedFact>> Memory::facts() {
  KP_LET(const std::int64_t now, this->now());
  KP_LET(Rows rows, database_.select("SELECT backend, architecture, text, seen, last_run FROM "
                                     "facts ORDER BY backend, architecture, text"));
  std::vector<LearnedFact> out;
  for (;;) {
    KP_LET(const bool more, rows.next());
    if (!more) {
      return out;
    }
    out.push_back({parse_backend(rows.text(0)).value_or(Backend::cpu), rows.text(1), rows.text(2),
                   rows.integer(3), std::max<std::int64_t>(0, now - rows.integer(4))});
  }
}

Result<bool> Memory::add(const std::vector<Lesson>& lessons, const std::vector<LearnedFact>& facts,
                         const std::string& hash) {
  KP_LET(Transaction transaction, Transaction::begin(database_));
  KP_LET(const std::int64_t known,
         database_.select_integer("SELECT count(*) FROM imports WHERE hash = ?1", {hash}));
  if (known > 0) {
    return false;
  }
  KP_TRY(database_.execute("INSERT INTO imports (hash) VALUES (?1)", {hash}));
  KP_LET(const std::int64_t now, this->now());
  for (const Lesson& lesson : lessons) {
    KP_LET(const std::int64_t situation, situation_id(lesson.backend, lesson.task, lesson.device));
    KP_TRY(add_lesson(situation, lesson, now - lesson.age));
  }
  for (const LearnedFact& fact : facts) {
    KP_TRY(add_fact(fact, now - fact.age));
  }
  KP_TRY(transaction.commit());
  return true;
}

Result<MemorySummary> Memory::forget(const ForgetWishes& wishes, bool only_count) {
  if (!wishes.all && wishes.move.empty() && !wishes.older) {
    return make_error(ErrorKind::bad_input,
                      "what is to be forgotten? Say --all, --move ID or --older RUNS");
  }
  KP_LET(Transaction transaction, Transaction::begin(database_));
  KP_LET(const std::int64_t now, this->now());
  const std::int64_t newest = wishes.older ? now - *wishes.older : now;
  KP_LET(const MemorySummary before, summary());
  KP_TRY(database_.execute("DELETE FROM lessons WHERE (?1 = '' OR move = ?1) AND last_run <= ?2",
                           {wishes.move, newest}));
  if (wishes.move.empty()) {
    KP_TRY(database_.execute("DELETE FROM facts WHERE last_run <= ?1", {newest}));
  }
  KP_TRY(
      database_.execute("DELETE FROM situations WHERE id NOT IN (SELECT situation FROM lessons)"));
  // What was taken in may be taken in again.
  KP_TRY(database_.execute("DELETE FROM imports"));
  KP_LET(const MemorySummary after, summary());
  if (!only_count) {
    KP_TRY(transaction.commit());
  }
  return MemorySummary{before.lessons - after.lessons, before.situations - after.situations,
                       before.facts - after.facts, 0};
}

}  // namespace kernelpro::memory
