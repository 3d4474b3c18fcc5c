// What runs were told of others: a table of its own, made when the first run was.
#include <nlohmann/json.hpp>

#include "common/wire/json.hpp"
#include "coordinator/store/inner.hpp"
#include "coordinator/store/lesson_json.hpp"

namespace kernelpro {

Status Store::keep_recollection(const std::string& run, const Recollection& recollection) {
  store::Database& database = inner_->database;
  KP_LET(const std::int64_t key, inner_->run_key(run));
  KP_TRY(database.script(
      "CREATE TABLE IF NOT EXISTS recollections (run INTEGER PRIMARY KEY, json TEXT NOT NULL)"));
  return database.execute("INSERT OR REPLACE INTO recollections (run, json) VALUES (?1, ?2)",
                          {key, to_json(recollection).dump()});
}

Result<std::optional<Recollection>> Store::load_recollection(const std::string& run) const {
  store::Database& database = inner_->database;
  KP_LET(const std::int64_t key, inner_->run_key(run));
  KP_LET(const bool there, database.has_table("recollections"));
  if (!there) {
    return std::optional<Recollection>();
  }
  KP_LET(store::Rows rows, database.select("SELECT json FROM recollections WHERE run = ?1", {key}));
  KP_LET(const bool found, rows.next());
  if (!found) {
    return std::optional<Recollection>();
  }
  KP_LET(const nlohmann::json json, parse_json(rows.text(0)));
  KP_LET(Recollection recollection, recollection_from_json(json));
  return std::optional(std::move(recollection));
}

}  // namespace kernelpro
