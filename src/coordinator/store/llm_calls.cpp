#include "coordinator/store/llm_calls.hpp"

#include <nlohmann/json.hpp>
#include <set>

#include "common/base/hash.hpp"
#include "common/wire/json.hpp"
#include "common/wire/llm_json.hpp"
#include "coordinator/store/deflate.hpp"

namespace kernelpro::store {
namespace {

// Requests and answers repeat themselves much within, and little from call to call.
const std::string no_model;

Status make_table(Database& database) {
  const Result<bool> there = database.has_table("llm_calls");
  if (!there || *there) {
    return there ? Status() : Status(there.error());
  }
  return database.script(
      "CREATE TABLE IF NOT EXISTS llm_calls (run INTEGER NOT NULL, id TEXT NOT NULL, "
      "json TEXT NOT NULL, request_hash TEXT NOT NULL, request BLOB NOT NULL, "
      "answer BLOB NOT NULL, UNIQUE (run, id))");
}

Status insert_call(Database& database, std::int64_t run, const LlmCall& call,
                   const std::string& written, const std::string& hash, const std::string& answer) {
  KP_LET(const std::string request, pack_text(call.request, no_model, Packing::quick));
  return database.execute(
      "INSERT INTO llm_calls (run, id, json, request_hash, request, answer) "
      "VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (run, id) DO UPDATE SET "
      "json = excluded.json, request_hash = excluded.request_hash, request = excluded.request, "
      "answer = excluded.answer",
      {run, call.id, written, hash, Blob{request}, Blob{answer}});
}

// The present row of select_calls.
Result<LlmCall> read_call(const Rows& row) {
  KP_LET(const nlohmann::json parsed, parse_json(row.text(0)));
  Result<LlmCall> call = llm_call_from_json(parsed);
  if (!call) {
    return call;
  }
  Result<std::string> request = unpack_text(row.text(1), no_model);
  Result<std::string> answer = unpack_text(row.text(2), no_model);
  if (!request || !answer) {
    return request ? answer.error() : request.error();
  }
  call->request = std::move(*request);
  call->answer = std::move(*answer);
  return call;
}

}  // namespace

Status keep_call(Database& database, std::int64_t run, const LlmCall& call) {
  KP_TRY(make_table(database));
  KP_LET(const std::string answer, pack_text(call.answer, no_model, Packing::quick));
  const std::string json = to_json(call).dump();
  const std::string hash = sha256(call.request);
  // A request is the same from its first state to its last: it is packed once.
  KP_TRY(database.execute(
      "UPDATE llm_calls SET json = ?4, answer = ?5 WHERE run = ?1 AND id = ?2 AND request_hash = "
      "?3",
      {run, call.id, hash, json, Blob{answer}}));
  return database.changed_rows() > 0 ? Status()
                                     : insert_call(database, run, call, json, hash, answer);
}

Result<std::vector<LlmCall>> select_calls(Database& database, std::int64_t run) {
  std::vector<LlmCall> calls;
  const Result<bool> there = database.has_table("llm_calls");
  if (!there || !*there) {
    return there ? Result<std::vector<LlmCall>>(calls) : there.error();
  }
  KP_LET(
      Rows rows,
      database.select(
          "SELECT json, request, answer, id FROM llm_calls WHERE run = ?1 ORDER BY rowid", {run}));
  while (true) {
    const Result<bool> more = rows.next();
    if (!more || !*more) {
      return more ? Result<std::vector<LlmCall>>(std::move(calls)) : more.error();
    }
    Result<LlmCall> call = read_call(rows);
    if (!call) {
      return make_error(ErrorKind::io,
                        "the kept call " + rows.text(3) +
                            " of a model cannot be read; put a copy of the store back (" +
                            call.error().text() + ")",
                        database.file().string());
    }
    calls.push_back(std::move(*call));
  }
}

Status add_authorship(Database& database, std::int64_t run, std::vector<Node>& nodes) {
  const Result<bool> there = database.has_table("llm_calls");
  if (!there || !*there) {
    return there ? Status() : Status(there.error());
  }
  KP_LET(Rows rows,
         database.select(
             "SELECT DISTINCT json_extract(json, '$.node') FROM llm_calls WHERE run = ?1 AND "
             "json_valid(json)",
             {run}));
  std::set<NodeId> written;
  while (true) {
    KP_LET(const bool more, rows.next());
    if (!more) {
      break;
    }
    written.insert(rows.integer(0));
  }
  for (Node& node : nodes) {
    node.by_models = written.contains(node.id);
  }
  return {};
}

}  // namespace kernelpro::store
