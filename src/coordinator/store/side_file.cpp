#include "coordinator/store/side_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <system_error>

#include "coordinator/store/place.hpp"

namespace kernelpro::store {

namespace {

namespace fs = std::filesystem;

Result<bool> is_empty(Database& database) {
  const Result<std::int64_t> entries =
      database.select_integer("SELECT count(*) FROM sqlite_master");
  return entries ? Result<bool>(*entries == 0) : entries.error();
}

Status check_marks(Database& database, const SideFile& kind) {
  KP_LET(const std::int64_t application,
         database.select_integer("SELECT application_id FROM pragma_application_id"));
  KP_LET(const std::int64_t version,
         database.select_integer("SELECT user_version FROM pragma_user_version"));
  if (application != kind.application_id) {
    return make_error(
        ErrorKind::bad_input,
        fmt::format("not {}: it is a database of another program. Move it away", kind.use.name),
        database.file().string());
  }
  if (version != kind.version) {
    return make_error(
        ErrorKind::environment,
        fmt::format("made by another kernelpro: it is version {} of {}, this "
                    "kernelpro {} knows version {}. Use that kernelpro, or {}",
                    version, kind.use.name, KERNELPRO_VERSION, kind.version, kind.use.damaged),
        database.file().string());
  }
  return {};
}

Status make_tables(Database& database, const SideFile& kind) {
  KP_LET(Transaction transaction, Transaction::begin(database));
  // Another process may have been faster.
  KP_LET(const bool empty, is_empty(database));
  if (!empty) {
    return {};
  }
  KP_TRY(database.script(fmt::format("{}PRAGMA application_id = {}; PRAGMA user_version = {};",
                                     kind.tables, kind.application_id, kind.version)));
  return transaction.commit();
}

Result<Database> open_to_write(const fs::path& file, const SideFile& kind) {
  const fs::path folder = fs::absolute(file).parent_path();
  KP_TRY(make_place(folder));
  KP_LET(Database database, Database::open(file, Access::write, kind.use));
  KP_LET(const bool empty, is_empty(database));
  if (empty) {
    const bool network = network_file_system_of(folder).has_value();
    KP_TRY(database.set_journal(network ? Journal::rollback : Journal::write_ahead));
    KP_TRY(make_tables(database, kind));
  }
  KP_TRY(check_marks(database, kind));
  return database;
}

// In a folder that cannot be written to, SQLite must be told that nobody writes.
Result<Database> open_to_read(const fs::path& file, const SideFile& kind) {
  KP_LET(Database database, Database::open(file, Access::read, kind.use));
  const Result<bool> empty = is_empty(database);
  if (!empty && empty.error().kind == ErrorKind::io &&
      ::access(fs::absolute(file).parent_path().c_str(), W_OK) != 0) {
    return Database::open(file, Access::immutable, kind.use);
  }
  return database;
}

}  // namespace

Result<Database> open_side_file(const fs::path& file, StoreMode mode, const SideFile& kind) {
  if (mode == StoreMode::write) {
    return open_to_write(file, kind);
  }
  const Error absent = make_error(ErrorKind::bad_input, kind.absent, file.string());
  std::error_code error;
  if (!fs::exists(file, error)) {
    return absent;
  }
  KP_LET(Database database, open_to_read(file, kind));
  KP_LET(const bool empty, is_empty(database));
  if (empty) {
    return absent;
  }
  KP_TRY(check_marks(database, kind));
  return database;
}

}  // namespace kernelpro::store
