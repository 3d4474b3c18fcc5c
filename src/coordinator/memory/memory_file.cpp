#include "coordinator/memory/memory_file.hpp"

#include "coordinator/store/side_file.hpp"

namespace kernelpro::memory {

namespace {

// A situation is a task's and a device's traits: one row for all that was learned there. Numbers of
// runs count the runs that were learned from; what a run was learned from up to is kept, so that
// one that goes on is not counted twice.
constexpr const char* memory_tables = R"sql(
CREATE TABLE about (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE runs (
  number INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  learned INTEGER NOT NULL
);
CREATE TABLE imports (
  hash TEXT PRIMARY KEY
) WITHOUT ROWID;
CREATE TABLE situations (
  id INTEGER PRIMARY KEY,
  backend TEXT NOT NULL,
  task BLOB NOT NULL,
  device BLOB NOT NULL,
  UNIQUE (backend, task, device)
);
CREATE TABLE lessons (
  id INTEGER PRIMARY KEY,
  situation INTEGER NOT NULL REFERENCES situations (id),
  code BLOB NOT NULL,
  bottleneck TEXT NOT NULL,
  finding TEXT NOT NULL,
  move TEXT NOT NULL,
  site TEXT NOT NULL,
  tried INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  mean REAL NOT NULL,
  spread REAL NOT NULL,
  useful REAL NOT NULL,
  causes TEXT NOT NULL,
  confirmed REAL NOT NULL,
  contradicted REAL NOT NULL,
  last_run INTEGER NOT NULL,
  UNIQUE (situation, code, bottleneck, finding, move, site)
);
CREATE TABLE facts (
  backend TEXT NOT NULL,
  architecture TEXT NOT NULL,
  text TEXT NOT NULL,
  seen INTEGER NOT NULL,
  last_run INTEGER NOT NULL,
  PRIMARY KEY (backend, architecture, text)
) WITHOUT ROWID;
INSERT INTO about VALUES ('id', lower(hex(randomblob(16))));
)sql";

// Its version also changes whenever a trait is added, or means something else.
constexpr store::SideFile memory_kind = {
    .use = {.name = "a memory of lessons",
            .damaged =
                "move it away: runs begin a new one. A file that `kernelpro memory export` wrote "
                "can be taken in again by `kernelpro memory import`"},
    .application_id = 0x4B506D65,  // "KPme"
    .version = 1,
    .tables = memory_tables,
    .absent =
        "nothing is remembered yet: runs of `kernelpro optimize` fill it, and `kernelpro memory "
        "import FILE` does"};

}  // namespace

Result<store::Database> open_memory_file(const std::filesystem::path& file, StoreMode mode) {
  return store::open_side_file(file, mode, memory_kind);
}

}  // namespace kernelpro::memory
