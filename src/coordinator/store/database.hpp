// One SQLite file, with errors as values. For rooms that keep something, and their tests.
//
// Not for two threads at once; processes may meet at one file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "common/base/result.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace kernelpro::store {

enum class Access {
  write,      // made where it is missing
  read,       // beside others that write
  immutable,  // without locks: only where nobody can write
};

enum class Journal {
  write_ahead,  // readers and the writer do not wait for each other; needs shared memory
  rollback,     // for network file systems, where processes share no memory
};

// What the file is, for messages about one that cannot be used.
struct DatabaseUse {
  const char* name = "a store";
  const char* damaged = nullptr;  // what to do then; nullptr: save what can be read
};

// Bytes that are no text.
struct Blob {
  std::string_view bytes;
};

// What a parameter of a statement can be. A NaN is kept as NULL.
using Value = std::variant<std::nullptr_t, std::int64_t, double, std::string_view, Blob>;

class Database;

// The rows of a query, one at a time. While they are read, the same query is not to be asked again.
class Rows {
 public:
  Rows(Rows&& other) noexcept;
  Rows& operator=(Rows&&) = delete;
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;
  ~Rows();

  // Goes to the next row (at first to the first one); false after the last.
  [[nodiscard]] Result<bool> next();

  // The columns of the present row, from 0.
  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] int small_integer(int column) const;
  [[nodiscard]] bool truth(int column) const;
  [[nodiscard]] double number(int column) const;  // NULL is NaN
  [[nodiscard]] std::string text(int column) const;
  [[nodiscard]] bool is_null(int column) const;
  [[nodiscard]] bool is_blob(int column) const;

 private:
  friend class Database;
  Rows(const Database& database, sqlite3_stmt* statement)
      : database_(&database), statement_(statement) {}

  const Database* database_;
  sqlite3_stmt* statement_;
};

class Database {
 public:
  // The file itself is looked at by the first statement: "not a database" comes from there.
  [[nodiscard]] static Result<Database> open(const std::filesystem::path& file, Access access,
                                             DatabaseUse use = {});
  Database(Database&&) noexcept = default;
  Database& operator=(Database&&) noexcept = delete;
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();

  // Statements are prepared once and kept by their text, so `sql` should come from a fixed set.
  [[nodiscard]] Status execute(std::string_view sql, std::initializer_list<Value> values = {});
  [[nodiscard]] Result<Rows> select(std::string_view sql, std::initializer_list<Value> values = {});
  // The first column of the only row; an error when there is none.
  [[nodiscard]] Result<std::int64_t> select_integer(std::string_view sql,
                                                    std::initializer_list<Value> values = {});
  [[nodiscard]] Result<bool> has_table(std::string_view name);
  [[nodiscard]] Result<bool> has_column(std::string_view table, std::string_view name);
  // Several statements without parameters, not kept.
  [[nodiscard]] Status script(const std::string& sql);

  // Brings the file to `journal`, waiting for others that use it. A file system that cannot have a
  // write-ahead log leaves it at another mode: the result is the mode there is, as SQLite names it.
  [[nodiscard]] Result<std::string> set_journal(Journal journal);

  [[nodiscard]] std::int64_t changed_rows() const;  // by the last execute
  [[nodiscard]] bool read_only() const;
  [[nodiscard]] const std::filesystem::path& file() const { return file_; }

 private:
  friend class Rows;
  struct CloseDatabase {
    void operator()(sqlite3* handle) const;
  };
  struct EndStatement {
    void operator()(sqlite3_stmt* statement) const;
  };
  using Statement = std::unique_ptr<sqlite3_stmt, EndStatement>;

  Database(std::filesystem::path file, DatabaseUse use, sqlite3* handle)
      : file_(std::move(file)), use_(use), handle_(handle) {}
  [[nodiscard]] Result<sqlite3_stmt*> prepare(std::string_view sql,
                                              std::initializer_list<Value> values);
  // For the last call that failed.
  [[nodiscard]] Error error() const;

  std::filesystem::path file_;
  DatabaseUse use_;
  std::unique_ptr<sqlite3, CloseDatabase> handle_;
  std::map<std::string, Statement, std::less<>> statements_;  // ended before the handle closes
};

// Everything until `commit` happens, or nothing. Takes the right to write at once, so that what is
// read inside is still true when it is written.
class Transaction {
 public:
  [[nodiscard]] static Result<Transaction> begin(Database& database);
  Transaction(Transaction&& other) noexcept;
  Transaction& operator=(Transaction&&) = delete;
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();
  [[nodiscard]] Status commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}
  Database* database_;
};

}  // namespace kernelpro::store
