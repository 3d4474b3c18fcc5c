#include "coordinator/store/rankings.hpp"

#include <nlohmann/json.hpp>

#include "common/wire/json.hpp"
#include "common/wire/run_json.hpp"

namespace kernelpro::store {

Status keep_ranking(Database& database, std::int64_t run, const std::vector<Finalist>& ranking) {
  KP_LET(const bool there, database.has_table("rankings"));
  if (ranking.empty()) {
    return there ? database.execute("DELETE FROM rankings WHERE run = ?1", {run}) : Status();
  }
  if (!there) {
    KP_TRY(database.script(
        "CREATE TABLE IF NOT EXISTS rankings (run INTEGER PRIMARY KEY, json TEXT NOT NULL)"));
  }
  return database.execute("INSERT OR REPLACE INTO rankings (run, json) VALUES (?1, ?2)",
                          {run, to_json(ranking).dump()});
}

Result<std::vector<Finalist>> find_ranking(Database& database, std::int64_t run) {
  const Result<bool> there = database.has_table("rankings");
  if (!there || !*there) {
    return there ? Result<std::vector<Finalist>>(std::vector<Finalist>()) : there.error();
  }
  KP_LET(Rows rows, database.select("SELECT json FROM rankings WHERE run = ?1", {run}));
  const Result<bool> found = rows.next();
  if (!found || !*found) {
    return found ? Result<std::vector<Finalist>>(std::vector<Finalist>()) : found.error();
  }
  const Result<nlohmann::json> json = parse_json(rows.text(0));
  return json ? ranking_from_json(*json) : json.error();
}

}  // namespace kernelpro::store
