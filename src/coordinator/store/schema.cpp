#include "coordinator/store/schema.hpp"

#include <fmt/format.h>

#include <system_error>
#include <utility>

#include "coordinator/store/database_error.hpp"
#include "coordinator/store/place.hpp"

namespace kernelpro::store {

namespace {

namespace fs = std::filesystem;

// Hashes of 64 digits are kept as 32 bytes, lists as JSON. A node's certificate has a table of its
// own, so that reading all nodes does not pass over them.
constexpr const char* tables = R"sql(
CREATE TABLE documents (
  hash TEXT PRIMARY KEY,
  json TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE runs (
  key INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  task_name TEXT NOT NULL,
  created TEXT NOT NULL,
  program_version TEXT NOT NULL,
  task TEXT NOT NULL REFERENCES documents (hash),
  task_hash TEXT NOT NULL,
  task_path TEXT NOT NULL,
  settings TEXT NOT NULL,
  state TEXT NOT NULL,
  best INTEGER NOT NULL,
  ended_because TEXT NOT NULL,
  wall_ns INTEGER NOT NULL,
  work_ns INTEGER NOT NULL,
  machine TEXT NOT NULL,
  model TEXT,
  final_phases INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE nodes (
  run INTEGER NOT NULL REFERENCES runs (key),
  id INTEGER NOT NULL,
  parent INTEGER NOT NULL,
  move TEXT NOT NULL,
  site TEXT NOT NULL,
  plan TEXT NOT NULL,
  predicted_gain REAL,
  reasons TEXT,
  source_hash BLOB NOT NULL,
  compiler TEXT NOT NULL,
  options TEXT,
  state TEXT NOT NULL,
  born INTEGER NOT NULL,
  ended INTEGER NOT NULL,
  same_as INTEGER NOT NULL,
  candidate_key BLOB NOT NULL,
  binary_hash BLOB NOT NULL,
  outcome TEXT NOT NULL,
  rule TEXT NOT NULL,
  summary TEXT NOT NULL,
  precision TEXT NOT NULL,
  suspect INTEGER NOT NULL,
  verified INTEGER NOT NULL,
  screened INTEGER NOT NULL,
  speedup REAL,
  speedup_low REAL,
  speedup_high REAL,
  bottleneck TEXT NOT NULL,
  share_of_bound REAL,
  diagnosis TEXT NOT NULL,
  build_ns INTEGER NOT NULL,
  judge_ns INTEGER NOT NULL,
  at_least INTEGER NOT NULL DEFAULT 0,
  final_phase INTEGER NOT NULL DEFAULT 0,
  confirmed INTEGER NOT NULL DEFAULT 0,
  likely REAL NOT NULL DEFAULT 0,
  PRIMARY KEY (run, id)
);
CREATE INDEX nodes_by_result ON nodes (run, state, outcome, speedup);

CREATE TABLE certificates (
  run INTEGER NOT NULL,
  node INTEGER NOT NULL,
  packed BLOB NOT NULL,
  PRIMARY KEY (run, node)
);

CREATE TABLE closures (
  run INTEGER NOT NULL REFERENCES runs (key),
  at INTEGER NOT NULL,
  node INTEGER NOT NULL,
  reason TEXT NOT NULL
);
CREATE INDEX closures_by_run ON closures (run, at);
)sql";

enum class Content { empty, store };

Error not_a_store(const Database& database) {
  return make_error(ErrorKind::bad_input,
                    fmt::format("not a store: it is a database of another program. Move that file "
                                "away, or {}",
                                other_folder),
                    database.file().string());
}

struct Marks {
  std::int64_t application;
  std::int64_t version;
  std::int64_t entries;
};

// In one statement, so that all are of one moment: another process may be making the tables.
Result<Marks> read_marks(Database& database) {
  KP_LET(Rows rows, database.select(
                        "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_master) "
                        "FROM pragma_application_id, pragma_user_version"));
  if (const Result<bool> row = rows.next(); !row || !*row) {
    return row ? not_a_store(database) : row.error();
  }
  return Marks{
      .application = rows.integer(0), .version = rows.integer(1), .entries = rows.integer(2)};
}

Result<Content> look_inside(Database& database) {
  KP_LET(const Marks marks, read_marks(database));
  if (marks.application == 0 && marks.version == 0 && marks.entries == 0) {
    return Content::empty;
  }
  if (marks.application != application_id || marks.version < 1) {
    return not_a_store(database);
  }
  if (marks.version > schema_version) {
    return make_error(ErrorKind::environment,
                      fmt::format("made by a newer kernelpro: it has version {} of the store, this "
                                  "kernelpro {} knows version {}. Use the newer kernelpro, or {}",
                                  marks.version, KERNELPRO_VERSION, schema_version, other_folder),
                      database.file().string());
  }
  return Content::store;
}

Status make_tables(Database& database) {
  KP_LET(Transaction transaction, Transaction::begin(database));
  // Another process may have been faster.
  const Result<Content> content = look_inside(database);
  if (!content || *content == Content::store) {
    return content ? Status() : content.error();
  }
  KP_TRY(database.script(fmt::format("{}PRAGMA application_id = {}; PRAGMA user_version = {};",
                                     tables, application_id, schema_version)));
  return transaction.commit();
}

// Makes the columns that came with `column`, where nodes have none of that name.
Status add_columns(Database& database, std::string_view column, const char* script) {
  const Result<bool> there = database.has_column("nodes", column);
  if (!there || *there) {
    return there ? Status() : there.error();
  }
  KP_LET(Transaction transaction, Transaction::begin(database));
  // Another process may have been faster.
  const Result<bool> meanwhile = database.has_column("nodes", column);
  if (!meanwhile || *meanwhile) {
    return meanwhile ? Status() : meanwhile.error();
  }
  KP_TRY(database.script(script));
  return transaction.commit();
}

// Columns that came later, for a file that an older program made. Their defaults let that program
// read and write the file still, so the version stays. What a finished run called its best had been
// confirmed.
Status add_new_columns(Database& database) {
  KP_TRY(add_columns(database, "confirmed",
                     "ALTER TABLE nodes ADD COLUMN at_least INTEGER NOT NULL DEFAULT 0;"
                     "ALTER TABLE nodes ADD COLUMN final_phase INTEGER NOT NULL DEFAULT 0;"
                     "ALTER TABLE nodes ADD COLUMN confirmed INTEGER NOT NULL DEFAULT 0;"
                     "ALTER TABLE runs ADD COLUMN final_phases INTEGER NOT NULL DEFAULT 0;"
                     "UPDATE nodes SET confirmed = 1 WHERE id > 0 AND EXISTS (SELECT 1 FROM runs "
                     "WHERE key = nodes.run AND best = nodes.id AND state = 'finished');"));
  return add_columns(database, "likely",
                     "ALTER TABLE nodes ADD COLUMN likely REAL NOT NULL DEFAULT 0;");
}

// Nothing may be changed in a file before it is known to be ours.
Result<Database> open_to_write(const fs::path& file, Journal journal,
                               std::vector<std::string>& notices) {
  KP_LET(Database database, Database::open(file, Access::write));
  KP_LET(const Content content, look_inside(database));
  if (database.read_only()) {
    return not_writable(file, "it may only be read");
  }
  if (content == Content::empty) {
    // Larger than usual: rows of about a kilobyte leave less of a page unused.
    KP_TRY(database.execute("PRAGMA page_size = 16384"));
  }
  KP_LET(const std::string mode, database.set_journal(journal));
  if (journal == Journal::write_ahead && mode != "wal") {
    notices.push_back(fmt::format(
        "{}: no write-ahead log on this file system (journal mode {}): while one process writes, "
        "others wait",
        file.string(), mode));
  }
  // Whole pages go into the log, some five for a node: by default it would grow to 16 MB.
  KP_TRY(database.execute("PRAGMA wal_autocheckpoint = 24"));
  // With FULL a commit is on the disk when it returns, under every journal.
  KP_TRY(database.execute("PRAGMA synchronous = FULL"));
  KP_TRY(content == Content::empty ? make_tables(database) : add_new_columns(database));
  return database;
}

Error unread_log(const fs::path& file) {
  return make_error(ErrorKind::io,
                    fmt::format("its last changes are in {}-wal, which can be read only where the "
                                "folder is writable: make it writable, or copy the whole folder to "
                                "such a place and name that with --store",
                                file.string()),
                    file.string());
}

// A file in write-ahead mode needs a writable folder even to be read, unless SQLite is told that
// nobody writes to it. That is true only where the log is empty.
Result<Database> open_immutable(const fs::path& file, const Error& why,
                                std::vector<std::string>& notices) {
  std::error_code error;
  const auto log_size = fs::file_size(file.string() + "-wal", error);
  if (!error && log_size > 0) {
    return unread_log(file);
  }
  Result<Database> database = Database::open(file, Access::immutable);
  if (!database || !look_inside(*database)) {
    return why;
  }
  notices.push_back(
      fmt::format("{}: the folder cannot be written to, so what others write meanwhile is not seen",
                  file.string()));
  return database;
}

Result<Database> open_to_read(const fs::path& file, std::vector<std::string>& notices) {
  KP_LET(Database database, Database::open(file, Access::read));
  const Result<Content> content = look_inside(database);
  if (!content) {
    return content.error().kind == ErrorKind::io ? open_immutable(file, content.error(), notices)
                                                 : content.error();
  }
  if (*content == Content::empty) {
    return make_error(ErrorKind::bad_input,
                      "nothing has been kept in this store yet: `kernelpro optimize` does so",
                      file.string());
  }
  return database;
}

}  // namespace

Result<Database> open_database(const fs::path& directory, StoreMode mode, Journal journal,
                               std::vector<std::string>& notices) {
  const fs::path file = database_file(directory);
  return mode == StoreMode::write ? open_to_write(file, journal, notices)
                                  : open_to_read(file, notices);
}

}  // namespace kernelpro::store
