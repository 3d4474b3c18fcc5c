#include "coordinator/store/database_error.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cerrno>
#include <system_error>

namespace kernelpro::store {

namespace {

namespace fs = std::filesystem;

Error full(const fs::path& file) {
  return make_error(ErrorKind::io,
                    fmt::format("the disk is full: free some space for {} and try again; what was "
                                "kept before is safe",
                                fs::absolute(file).parent_path().string()),
                    file.string());
}

}  // namespace

Error not_writable(const fs::path& file, const std::string& reason) {
  return make_error(
      ErrorKind::io,
      fmt::format(
          "cannot be written to ({}): make the folder and its files writable for you, or {}",
          reason, other_folder),
      file.string());
}

Error database_error(const fs::path& file, const DatabaseUse& use, int code, int system_code,
                     const std::string& text) {
  const int kind = code & 0xff;
  // SQLite keeps the last errno it saw, also when that has nothing to do with this failure.
  const bool from_system = (kind == SQLITE_IOERR || kind == SQLITE_CANTOPEN) && system_code != 0;
  if (from_system && (system_code == ENOSPC || system_code == EDQUOT)) {
    return full(file);
  }
  const std::string reason = from_system ? std::generic_category().message(system_code) : text;
  switch (kind) {
    case SQLITE_FULL:
      return full(file);
    case SQLITE_NOTADB:
      return make_error(ErrorKind::bad_input,
                        fmt::format("not {}: it is no SQLite database. Move that file away, or {}",
                                    use.name, other_folder),
                        file.string());
    case SQLITE_CORRUPT:
      return make_error(ErrorKind::io,
                        fmt::format("damaged ({}): {}", text,
                                    use.damaged != nullptr
                                        ? use.damaged
                                        : fmt::format("put a copy of it back, or save what can "
                                                      "still be read with: sqlite3 {} .recover",
                                                      file.string())),
                        file.string());
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return make_error(ErrorKind::busy,
                        "another process is using it and did not let go in time; wait for it, or "
                        "end it, and try again",
                        file.string());
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return not_writable(file, reason);
    case SQLITE_CANTOPEN:
      return make_error(ErrorKind::io,
                        fmt::format("cannot be opened ({}): check the rights of the folder and its "
                                    "files, or {}",
                                    reason, other_folder),
                        file.string());
    case SQLITE_IOERR:
      return make_error(ErrorKind::io,
                        fmt::format("reading or writing failed ({}): check the disk and the limit "
                                    "of file sizes (ulimit -f), and try again; what was kept "
                                    "before is safe",
                                    reason),
                        file.string());
    default:
      return make_error(ErrorKind::internal,
                        fmt::format("SQLite refused a statement of ours ({}, code {})", text, code),
                        file.string());
  }
}

}  // namespace kernelpro::store
