#include "coordinator/store/database.hpp"

#include <sqlite3.h>

#include <chrono>
#include <limits>
#include <thread>
#include <utility>

#include "common/base/deadline.hpp"
#include "coordinator/store/database_error.hpp"

namespace kernelpro::store {

namespace {

namespace fs = std::filesystem;

// Longer than any transaction of ours takes, and than a checkpoint of a full log.
constexpr int busy_timeout_ms = 10'000;

// SQLite's form of an address, the one place where it can be told that a file does not change.
std::string immutable_address(const fs::path& file) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string address = "file:";
  for (const char letter : fs::absolute(file).string()) {
    const auto byte = static_cast<unsigned char>(letter);
    if (letter == '%' || letter == '?' || letter == '#') {
      address += '%';
      address += digits[byte >> 4U];
      address += digits[byte & 0xFU];
    } else {
      address += letter;
    }
  }
  return address + "?immutable=1";
}

int flags_of(Access access) {
  // One thread at a time uses a Database, so SQLite need not lock for every column it reads.
  constexpr int common = SQLITE_OPEN_NOMUTEX;
  switch (access) {
    case Access::write:
      return common | SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    case Access::read:
      return common | SQLITE_OPEN_READONLY;
    case Access::immutable:
      return common | SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
  }
  return common | SQLITE_OPEN_READONLY;
}

int bind(sqlite3_stmt* statement, int index, const Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    return sqlite3_bind_int64(statement, index, *integer);
  }
  if (const auto* number = std::get_if<double>(&value)) {
    return sqlite3_bind_double(statement, index, *number);
  }
  if (const auto* text = std::get_if<std::string_view>(&value)) {
    // Never a null pointer, which would mean NULL.
    return sqlite3_bind_text64(statement, index, text->empty() ? "" : text->data(), text->size(),
                               SQLITE_TRANSIENT, SQLITE_UTF8);
  }
  if (const auto* blob = std::get_if<Blob>(&value)) {
    return sqlite3_bind_blob64(statement, index, blob->bytes.empty() ? "" : blob->bytes.data(),
                               blob->bytes.size(), SQLITE_TRANSIENT);
  }
  return sqlite3_bind_null(statement, index);
}

}  // namespace

Rows::Rows(Rows&& other) noexcept
    : database_(other.database_), statement_(std::exchange(other.statement_, nullptr)) {}

Rows::~Rows() {
  if (statement_ != nullptr) {
    sqlite3_reset(statement_);
    sqlite3_clear_bindings(statement_);
  }
}

Result<bool> Rows::next() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) {
    return true;
  }
  if (code == SQLITE_DONE) {
    return false;
  }
  return database_->error();
}

std::int64_t Rows::integer(int column) const {
  return sqlite3_column_int64(statement_, column);
}

int Rows::small_integer(int column) const {
  return sqlite3_column_int(statement_, column);
}

bool Rows::truth(int column) const {
  return integer(column) != 0;
}

double Rows::number(int column) const {
  return is_null(column) ? std::numeric_limits<double>::quiet_NaN()
                         : sqlite3_column_double(statement_, column);
}

std::string Rows::text(int column) const {
  const void* bytes = sqlite3_column_blob(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  return bytes == nullptr
             ? std::string()
             : std::string(static_cast<const char*>(bytes), static_cast<std::size_t>(size));
}

bool Rows::is_null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

bool Rows::is_blob(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_BLOB;
}

void Database::CloseDatabase::operator()(sqlite3* handle) const {
  sqlite3_close(handle);
}

void Database::EndStatement::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

Database::~Database() = default;

Result<Database> Database::open(const fs::path& file, Access access, DatabaseUse use) {
  const std::string name = access == Access::immutable ? immutable_address(file) : file.string();
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(name.c_str(), &handle, flags_of(access), nullptr);
  Database database(file, use, handle);
  if (code != SQLITE_OK) {
    return database.error();
  }
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_busy_timeout(handle, busy_timeout_ms);
  return database;
}

Result<sqlite3_stmt*> Database::prepare(std::string_view sql, std::initializer_list<Value> values) {
  auto found = statements_.find(sql);
  if (found == statements_.end()) {
    sqlite3_stmt* prepared = nullptr;
    if (sqlite3_prepare_v3(handle_.get(), sql.data(), static_cast<int>(sql.size()),
                           SQLITE_PREPARE_PERSISTENT, &prepared, nullptr) != SQLITE_OK) {
      return error();
    }
    found = statements_.emplace(std::string(sql), Statement(prepared)).first;
  }
  sqlite3_stmt* statement = found->second.get();
  int index = 0;
  for (const Value& value : values) {
    if (bind(statement, ++index, value) != SQLITE_OK) {
      return error();
    }
  }
  return statement;
}

Status Database::execute(std::string_view sql, std::initializer_list<Value> values) {
  KP_LET(Rows rows, select(sql, values));
  const Result<bool> done = rows.next();
  return done ? Status() : done.error();
}

Result<Rows> Database::select(std::string_view sql, std::initializer_list<Value> values) {
  KP_LET(sqlite3_stmt * statement, prepare(sql, values));
  return Rows(*this, statement);
}

Result<bool> Database::has_table(std::string_view name) {
  const Result<std::int64_t> found = select_integer(
      "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = ?1", {name});
  return found ? Result<bool>(*found > 0) : found.error();
}

Result<bool> Database::has_column(std::string_view table, std::string_view name) {
  const Result<std::int64_t> found =
      select_integer("SELECT count(*) FROM pragma_table_info(?1) WHERE name = ?2", {table, name});
  return found ? Result<bool>(*found > 0) : found.error();
}

Result<std::int64_t> Database::select_integer(std::string_view sql,
                                              std::initializer_list<Value> values) {
  KP_LET(Rows rows, select(sql, values));
  KP_LET(const bool found, rows.next());
  if (!found) {
    return make_error(ErrorKind::internal, "no row where one was expected: " + std::string(sql),
                      file_.string());
  }
  return rows.integer(0);
}

Status Database::script(const std::string& sql) {
  if (sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    return error();
  }
  return {};
}

Result<std::string> Database::set_journal(Journal journal) {
  const std::string_view sql = journal == Journal::write_ahead ? "PRAGMA journal_mode = WAL"
                                                               : "PRAGMA journal_mode = DELETE";
  const Deadline deadline(busy_timeout_ms);
  while (true) {
    KP_LET(Rows rows, select(sql));
    const Result<bool> found = rows.next();
    if (found) {
      return rows.text(0);
    }
    // SQLite does not wait by itself here: two processes that change the mode would wait for each
    // other.
    if (found.error().kind != ErrorKind::busy || deadline.passed()) {
      return found.error();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(deadline.step(5)));
  }
}

std::int64_t Database::changed_rows() const {
  return sqlite3_changes64(handle_.get());
}

bool Database::read_only() const {
  return sqlite3_db_readonly(handle_.get(), "main") != 0;
}

Error Database::error() const {
  if (handle_ == nullptr) {
    return database_error(file_, use_, SQLITE_NOMEM, 0, "out of memory");
  }
  return database_error(file_, use_, sqlite3_extended_errcode(handle_.get()),
                        sqlite3_system_errno(handle_.get()), sqlite3_errmsg(handle_.get()));
}

Result<Transaction> Transaction::begin(Database& database) {
  if (const Status begun = database.execute("BEGIN IMMEDIATE"); !begun) {
    return begun.error();
  }
  return Transaction(database);
}

Transaction::Transaction(Transaction&& other) noexcept
    : database_(std::exchange(other.database_, nullptr)) {}

Transaction::~Transaction() {
  if (database_ != nullptr) {
    // Fails where SQLite has rolled back by itself, as it does when the disk is full.
    [[maybe_unused]] const Status rolled_back = database_->execute("ROLLBACK");
  }
}

Status Transaction::commit() {
  const Status committed = database_->execute("COMMIT");
  if (committed) {
    database_ = nullptr;
  }
  return committed;
}

}  // namespace kernelpro::store
