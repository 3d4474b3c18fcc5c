// Runs taken out of a store, with what only they have.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <system_error>

#include "coordinator/store/inner.hpp"
#include "coordinator/store/place.hpp"
#include "coordinator/store/run_lock.hpp"

namespace kernelpro {

using store::Rows;
using store::Transaction;

namespace {

// What runs there are, to see whether one was made meanwhile.
struct RunsKnown {
  std::int64_t count = 0;
  std::int64_t last = 0;
  bool operator==(const RunsKnown&) const = default;
};

Result<RunsKnown> known_runs(store::Database& database) {
  KP_LET(Rows rows, database.select("SELECT count(*), coalesce(max(key), 0) FROM runs"));
  KP_TRY(rows.next());
  return RunsKnown{rows.integer(0), rows.integer(1)};
}

Result<std::vector<std::string>> texts(Result<Rows> rows) {
  std::vector<std::string> all;
  while (rows) {
    KP_LET(const bool more, rows->next());
    if (!more) {
      return all;
    }
    all.push_back(rows->text(0));
  }
  return rows.error();
}

// The hashes of sources that no other run names.
Result<std::vector<std::string>> own_sources(store::Database& database, std::int64_t key) {
  return texts(database.select(
      "SELECT lower(hex(source_hash)) FROM nodes WHERE run = ?1 AND length(source_hash) = 32 "
      "EXCEPT SELECT lower(hex(source_hash)) FROM nodes WHERE run <> ?1",
      {key}));
}

Status delete_rows(store::Database& database, std::int64_t key) {
  constexpr std::array<const char*, 7> tables = {
      "nodes", "certificates", "closures", "findings", "llm_calls", "rankings", "recollections"};
  for (const char* table : tables) {
    KP_LET(const bool there, database.has_table(table));
    if (there) {
      KP_TRY(database.execute(fmt::format("DELETE FROM {} WHERE run = ?1", table), {key}));
    }
  }
  return database.execute("DELETE FROM runs WHERE key = ?1", {key});
}

// The locks of all other runs, so that nobody begins to write to one; none where somebody does
// already, or where they cannot all be had.
Result<std::vector<UniqueFd>> lock_others(store::Database& database,
                                          const std::filesystem::path& directory,
                                          const std::string& run) {
  KP_LET(const std::vector<std::string> others,
         texts(database.select("SELECT id FROM runs WHERE id <> ?1", {run})));
  std::vector<UniqueFd> locks;
  for (const std::string& other : others) {
    const std::filesystem::path file = store::lock_file(directory, other);
    if (store::is_locked(file)) {
      return make_error(ErrorKind::busy, other);
    }
    KP_LET(UniqueFd lock, store::take_lock(file, other));
    locks.push_back(std::move(lock));
  }
  return locks;
}

}  // namespace

Status Store::remove_run(const std::string& id) {
  KP_LET(const RunLock own, lock_run(id));
  store::Database& database = inner_->database;
  // Who writes to another run may be about to name a source that only this run has named so far:
  // then the files stay.
  const Result<std::vector<UniqueFd>> others = lock_others(database, inner_->directory, id);
  KP_LET(const std::int64_t key, inner_->run_key(id));
  std::vector<std::string> sources;
  RunsKnown before;
  {
    KP_LET(Transaction transaction, Transaction::begin(database));
    KP_LET(sources, own_sources(database, key));
    KP_TRY(delete_rows(database, key));
    KP_LET(before, known_runs(database));
    KP_TRY(transaction.commit());
  }
  inner_->models.erase(key);
  if (!others) {
    return {};
  }
  // No run is made while this lasts.
  KP_LET(const Transaction transaction, Transaction::begin(database));
  KP_LET(const RunsKnown now, known_runs(database));
  for (const std::string& hash : now == before ? sources : std::vector<std::string>()) {
    store::remove_source(inner_->directory, hash);
  }
  return {};
}

}  // namespace kernelpro
