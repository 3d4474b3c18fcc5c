#include "coordinator/serve/queue.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>

#include "common/base/date.hpp"
#include "common/base/file.hpp"
#include "common/base/secret.hpp"
#include "coordinator/store/deflate.hpp"
#include "coordinator/store/place.hpp"
#include "coordinator/store/side_file.hpp"

namespace kernelpro::serve {

namespace {

namespace fs = std::filesystem;
using store::Blob;
using store::Database;
using store::Rows;
using store::Transaction;

constexpr const char* queue_tables = R"sql(
CREATE TABLE work (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  client TEXT NOT NULL,
  request BLOB NOT NULL,
  batch TEXT NOT NULL,
  content TEXT NOT NULL,
  machine TEXT NOT NULL DEFAULT '',
  state TEXT NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  created TEXT NOT NULL,
  ended TEXT NOT NULL DEFAULT '',
  result BLOB,
  certificate BLOB
);
CREATE INDEX work_waiting ON work (batch, seq) WHERE state = 'queued';
CREATE INDEX work_oldest ON work (seq) WHERE state = 'queued';
CREATE INDEX work_open ON work (client) WHERE state != 'done';
CREATE INDEX work_equal ON work (content, machine) WHERE machine != '';

CREATE TABLE keys (
  client TEXT NOT NULL,
  key TEXT NOT NULL,
  body TEXT NOT NULL,
  ids TEXT NOT NULL,
  last INTEGER NOT NULL,
  PRIMARY KEY (client, key)
) WITHOUT ROWID;
CREATE INDEX keys_by_age ON keys (last);
)sql";

constexpr store::SideFile queue_kind = {
    .use = {.name = "the queue of a service",
            .damaged = "move it away: the service begins a new one, without earlier results"},
    .application_id = 0x4B507175,  // "KPqu"
    .version = 1,
    .tables = queue_tables};

Result<std::string> packed(const std::string& text) {
  return store::pack_text(text, "", store::Packing::quick);
}

Result<std::string> unpacked(const Rows& rows, int column) {
  return rows.is_null(column) ? Result<std::string>(std::string())
                              : store::unpack_text(rows.text(column), "");
}

WorkState state_named(const std::string& name) {
  if (name == "done") {
    return WorkState::done;
  }
  return name == "judging" ? WorkState::judging : WorkState::queued;
}

Result<UniqueFd> lock_service(const fs::path& store) {
  const fs::path file = store / "service.lock";
  UniqueFd lock(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!lock.valid()) {
    return errno_error("opening " + file.string());
  }
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    return make_error(ErrorKind::busy,
                      "another `kernelpro serve` works with this store: stop it, or name another "
                      "one with --store",
                      store.string());
  }
  return lock;
}

std::string joined_ids(const std::vector<std::string>& ids) {
  return fmt::format("{}", fmt::join(ids, " "));
}

std::vector<std::string> split_ids(const std::string& text) {
  std::vector<std::string> ids;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find(' ', from), text.size());
    ids.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  return ids;
}

}  // namespace

std::string_view name_of(WorkState state) {
  switch (state) {
    case WorkState::queued:
      return "queued";
    case WorkState::judging:
      return "judging";
    case WorkState::done:
      return "done";
  }
  return "";
}

Result<std::unique_ptr<Queue>> Queue::open(const fs::path& store, QueueLimits limits) {
  KP_TRY(store::make_place(store));
  KP_LET(UniqueFd lock, lock_service(store));
  KP_LET(Database database,
         store::open_side_file(store / "service.sqlite", StoreMode::write, queue_kind));
  // What was accepted must outlast the machine's power, not only this process.
  KP_TRY(database.execute("PRAGMA synchronous = FULL"));
  std::unique_ptr<Queue> queue(new Queue(std::move(database), std::move(lock), limits));
  KP_TRY(queue->begin());
  return queue;
}

Status Queue::forget_oldest() {
  KP_LET(const std::int64_t newest,
         database_.select_integer("SELECT coalesce(max(seq), 0) FROM work"));
  const std::int64_t oldest = newest - std::max(limits_.kept, limits_.all);
  if (oldest <= 0) {
    return {};
  }
  KP_TRY(database_.execute("DELETE FROM work WHERE seq <= ? AND state = 'done'", {oldest}));
  return database_.execute("DELETE FROM keys WHERE last <= ?", {oldest});
}

// Whoever was at work is gone: its lock was free.
Status Queue::begin() {
  KP_TRY(forget_oldest());
  KP_TRY(database_.execute("UPDATE work SET state = 'queued' WHERE state = 'judging'"));
  KP_LET(Rows rows, database_.select("SELECT client, count(*) FROM work WHERE state != 'done' "
                                     "GROUP BY client"));
  for (;;) {
    KP_LET(const bool more, rows.next());
    if (!more) {
      return {};
    }
    open_of_[rows.text(0)] = rows.integer(1);
    open_ += rows.integer(1);
  }
}

Result<std::optional<Accepted>> Queue::earlier(const std::string& client, const std::string& key,
                                               const std::string& body_hash) {
  if (key.empty()) {
    return std::optional<Accepted>();
  }
  KP_LET(Rows rows, database_.select("SELECT body, ids FROM keys WHERE client = ? AND key = ?",
                                     {client, key}));
  KP_LET(const bool found, rows.next());
  if (!found) {
    return std::optional<Accepted>();
  }
  const bool same = rows.text(0) == body_hash;
  return std::optional(Accepted{same ? Accepted::How::repeated : Accepted::How::other_body,
                                split_ids(rows.text(1))});
}

Result<std::string> Queue::add(const std::string& client, const NewWork& work) {
  constexpr std::size_t id_digits = 32;
  std::string id = key_text(secret_key()).substr(0, id_digits);
  KP_LET(const std::string request, packed(work.request));
  KP_TRY(database_.execute(
      "INSERT INTO work (id, kind, client, request, batch, content, state, created) "
      "VALUES (?, ?, ?, ?, ?, ?, 'queued', ?)",
      {id, work.kind, client, Blob{request}, work.group, work.content, utc_now()}));
  return id;
}

Result<Accepted> Queue::accept(const std::string& client, const std::vector<NewWork>& work,
                               const std::string& key, const std::string& body_hash) {
  const std::lock_guard lock(mutex_);
  KP_LET(const std::optional<Accepted> before, earlier(client, key, body_hash));
  if (before) {
    return *before;
  }
  const auto count = static_cast<std::int64_t>(work.size());
  if (open_of_[client] + count > limits_.of_client) {
    return Accepted{Accepted::How::client_full, {}};
  }
  if (open_ + count > limits_.all) {
    return Accepted{Accepted::How::full, {}};
  }
  KP_LET(Transaction transaction, Transaction::begin(database_));
  Accepted accepted;
  for (const NewWork& one : work) {
    KP_LET(std::string id, add(client, one));
    accepted.ids.push_back(std::move(id));
  }
  if (!key.empty()) {
    KP_TRY(
        database_.execute("INSERT INTO keys (client, key, body, ids, last) "
                          "VALUES (?, ?, ?, ?, (SELECT max(seq) FROM work))",
                          {client, key, body_hash, joined_ids(accepted.ids)}));
  }
  KP_TRY(forget_oldest());
  KP_TRY(transaction.commit());
  open_of_[client] += count;
  open_ += count;
  return accepted;
}

Result<std::optional<Work>> Queue::first(const std::string& group) {
  const auto read = [](Rows& rows) -> Result<std::optional<Work>> {
    KP_LET(const bool found, rows.next());
    if (!found) {
      return std::optional<Work>();
    }
    KP_LET(std::string request, unpacked(rows, 2));
    return std::optional(Work{rows.text(0),
                              {rows.text(1), std::move(request), rows.text(3), rows.text(4)},
                              rows.small_integer(5) + 1});
  };
  if (!group.empty()) {
    KP_LET(Rows rows, database_.select("SELECT id, kind, request, batch, content, attempts FROM "
                                       "work WHERE state = 'queued' AND batch = ? "
                                       "ORDER BY seq LIMIT 1",
                                       {group}));
    KP_LET(std::optional<Work> found, read(rows));
    if (found) {
      return found;
    }
  }
  KP_LET(Rows rows, database_.select("SELECT id, kind, request, batch, content, attempts FROM work "
                                     "WHERE state = 'queued' ORDER BY seq LIMIT 1"));
  return read(rows);
}

Result<std::optional<Work>> Queue::take(const std::string& group) {
  const std::lock_guard lock(mutex_);
  if (open_ == 0) {
    return std::optional<Work>();
  }
  KP_LET(std::optional<Work> work, first(group));
  if (work) {
    KP_TRY(database_.execute(
        "UPDATE work SET state = 'judging', attempts = attempts + 1 WHERE id = ?", {work->id}));
  }
  return work;
}

Result<bool> Queue::finish(const std::string& id, const Finish& finish) {
  const std::lock_guard lock(mutex_);
  KP_LET(const std::string result, packed(finish.result));
  KP_LET(const std::string certificate, packed(finish.certificate));
  KP_TRY(database_.execute(
      "UPDATE work SET state = 'done', ended = ?, machine = ?, result = ?, certificate = ? "
      "WHERE id = ? AND state != 'done'",
      {utc_now(), finish.machine, Blob{result},
       finish.certificate.empty() ? store::Value(nullptr) : store::Value(Blob{certificate}), id}));
  if (database_.changed_rows() == 0) {
    return false;
  }
  KP_LET(Rows rows, database_.select("SELECT client FROM work WHERE id = ?", {id}));
  KP_LET(const bool found, rows.next());
  if (found) {
    --open_of_[rows.text(0)];
  }
  --open_;
  return true;
}

Status Queue::begin_again(const std::string& id) {
  const std::lock_guard lock(mutex_);
  return database_.execute("UPDATE work SET attempts = attempts + 1 WHERE id = ?", {id});
}

Status Queue::give_back(const std::string& id) {
  const std::lock_guard lock(mutex_);
  return database_.execute(
      "UPDATE work SET state = 'queued', attempts = attempts - 1 WHERE id = ? AND state = "
      "'judging'",
      {id});
}

Result<std::vector<std::string>> Queue::begun_too_often() {
  const std::lock_guard lock(mutex_);
  KP_LET(Rows rows, database_.select("SELECT id FROM work WHERE state = 'queued' AND attempts >= ?",
                                     {std::int64_t{most_attempts}}));
  std::vector<std::string> ids;
  for (;;) {
    KP_LET(const bool more, rows.next());
    if (!more) {
      return ids;
    }
    ids.push_back(rows.text(0));
  }
}

Result<std::optional<Standing>> Queue::look(const std::string& id) {
  const std::lock_guard lock(mutex_);
  KP_LET(Rows rows,
         database_.select("SELECT kind, client, state, attempts, created, ended, result FROM work "
                          "WHERE id = ?",
                          {id}));
  KP_LET(const bool found, rows.next());
  if (!found) {
    return std::optional<Standing>();
  }
  KP_LET(std::string result, unpacked(rows, 6));
  return std::optional(Standing{id, rows.text(0), rows.text(1), state_named(rows.text(2)),
                                rows.small_integer(3), rows.text(4), rows.text(5),
                                std::move(result)});
}

Result<std::optional<std::string>> Queue::certificate(const std::string& id) {
  const std::lock_guard lock(mutex_);
  KP_LET(Rows rows, database_.select("SELECT certificate FROM work WHERE id = ?", {id}));
  KP_LET(const bool found, rows.next());
  if (!found || rows.is_null(0)) {
    return std::optional<std::string>();
  }
  KP_LET(std::string text, unpacked(rows, 0));
  return std::optional(std::move(text));
}

Result<std::optional<std::string>> Queue::find_equal(const std::string& content,
                                                     const std::string& machine) {
  const std::lock_guard lock(mutex_);
  KP_LET(Rows rows, database_.select("SELECT id FROM work WHERE content = ? AND machine = ? AND "
                                     "machine != '' ORDER BY seq LIMIT 1",
                                     {content, machine}));
  KP_LET(const bool found, rows.next());
  return found ? std::optional(rows.text(0)) : std::nullopt;
}

std::int64_t Queue::open_count() const {
  const std::lock_guard lock(mutex_);
  return open_;
}

Result<std::int64_t> Queue::done_count() {
  const std::lock_guard lock(mutex_);
  return database_.select_integer("SELECT count(*) FROM work WHERE state = 'done'");
}

}  // namespace kernelpro::serve
