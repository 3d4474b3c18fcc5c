// Questions to an index of code.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "coordinator/code/file_kind.hpp"
#include "coordinator/code/passage.hpp"
#include "coordinator/code/symbols.hpp"
#include "coordinator/store/database.hpp"

namespace kernelpro::code {

struct Hit {
  std::string file;  // LABEL/PATH
  FileKind kind = FileKind::source;
  double score = 0;
  Lines lines;       // where it answers best
  std::string text;  // those lines
};

// How much of a file a hit shows.
struct HitSize {
  std::int64_t lines = 6;    // where the words stand together
  std::int64_t context = 0;  // up to so many, if all that is defined there fits into them
};

// One hit a file, the best first. Of a long question the rarest words count.
[[nodiscard]] Result<std::vector<Hit>> search_words(store::Database& index,
                                                    const std::string& question, int limit,
                                                    HitSize size);

struct SymbolHit {
  std::string file;
  FileKind kind = FileKind::source;
  Symbol symbol;
  std::string text;  // the line that names it
};

// Those called NAME or SCOPE::NAME, first as it is written, then in whichever case; where there are
// none, those whose names have it within. Tests come last.
[[nodiscard]] Result<std::vector<SymbolHit>> find_symbols(store::Database& index,
                                                          const std::string& name, int limit);

struct IndexedText {
  std::string file;
  std::string text;  // all of it, as it was when it was indexed
};

// A file by its name in the index, or the end of one that no other file shares.
[[nodiscard]] Result<IndexedText> read_text(store::Database& index, const std::string& name);

}  // namespace kernelpro::code
