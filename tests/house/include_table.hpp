// The table of allowed includes, as written in docs/architecture.md and as the sources are.
#pragma once

#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/file.hpp"
#include "house/source_tree.hpp"

namespace kernelpro {

struct RoomEdges {
  std::set<std::string> rooms;
  std::set<std::string> third_party;
};

using IncludeTable = std::map<std::string, RoomEdges>;

inline constexpr std::string_view table_title = "| room | may include | third party |";

// The words between backticks in a cell.
inline std::set<std::string> quoted_words(const std::string& cell) {
  std::set<std::string> words;
  std::size_t open = cell.find('`');
  while (open != std::string::npos) {
    const std::size_t close = cell.find('`', open + 1);
    if (close == std::string::npos) {
      break;
    }
    words.insert(cell.substr(open + 1, close - open - 1));
    open = cell.find('`', close + 1);
  }
  return words;
}

inline std::vector<std::string> cells(const std::string& row) {
  std::vector<std::string> out;
  std::istringstream parts(row.substr(1));
  for (std::string cell; std::getline(parts, cell, '|');) {
    out.push_back(cell);
  }
  return out;
}

// A bad_input error when the text has no such table or a row of another form.
inline Result<IncludeTable> parse_include_table(const std::string& text) {
  IncludeTable table;
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line) && line != table_title) {
  }
  std::getline(lines, line);  // the rule under the title
  while (std::getline(lines, line) && line.starts_with('|')) {
    const std::vector<std::string> row = cells(line);
    const std::set<std::string> room = row.empty() ? std::set<std::string>() : quoted_words(row[0]);
    if (row.size() != 3 || room.size() != 1) {
      return make_error(ErrorKind::bad_input, "expected | `room` | `room`... | `library`... |",
                        line);
    }
    if (!table.emplace(*room.begin(), RoomEdges{quoted_words(row[1]), quoted_words(row[2])})
             .second) {
      return make_error(ErrorKind::bad_input, "a second row of the same room", line);
    }
  }
  if (table.empty()) {
    return make_error(ErrorKind::bad_input,
                      "no table with the title " + std::string(table_title) + " and rows under it");
  }
  return table;
}

// Programs kept as raw strings include what they like.
inline std::string without_raw_strings(std::string text) {
  std::size_t start = text.find("R\"");
  while (start != std::string::npos) {
    const std::size_t open = text.find('(', start);
    const std::string close = ")" + text.substr(start + 2, open - start - 2) + "\"";
    const std::size_t end = text.find(close, open);
    if (open == std::string::npos || end == std::string::npos) {
      break;
    }
    text.erase(start, end + close.size() - start);
    start = text.find("R\"", start);
  }
  return text;
}

struct Include {
  std::string path;
  bool quoted = false;  // "x" rather than <x>
};

inline std::vector<Include> includes_of(const std::string& source) {
  std::vector<Include> found;
  std::istringstream lines(without_raw_strings(source));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t open = line.find_first_of("<\"");
    if (line.starts_with("#include") && open != std::string::npos) {
      const std::size_t close = line.find_first_of(">\"", open + 1);
      found.push_back({line.substr(open + 1, close - open - 1), line[open] == '"'});
    }
  }
  return found;
}

inline std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

// The library a header in angle brackets belongs to; empty for the standard library and the system.
inline std::string third_party_of(const std::string& path) {
  static const std::set<std::string> system_folders = {"sys", "linux", "asm", "netinet", "arpa"};
  static const std::set<std::string> system_headers = {
      "cxxabi.h",   "dlfcn.h",    "elf.h",     "errno.h",  "fcntl.h",   "grp.h",
      "link.h",     "poll.h",     "pwd.h",     "sched.h",  "signal.h",  "spawn.h",
      "termios.h",  "unistd.h",   "pthread.h", "glob.h",   "time.h",    "math.h",
      "stdalign.h", "ucontext.h", "stdint.h",  "stddef.h", "arm_neon.h"};
  const std::size_t slash = path.find('/');
  if (slash != std::string::npos) {
    const std::string folder = path.substr(0, slash);
    return system_folders.contains(folder) ? "" : folder;
  }
  const bool standard = path.find('.') == std::string::npos;
  return standard || system_headers.contains(path) ? "" : path;
}

// What every room under `sources` includes outside itself.
inline IncludeTable read_includes(const std::filesystem::path& sources) {
  IncludeTable table;
  for (const std::filesystem::path& file : files_under(sources, {".cpp", ".hpp"})) {
    const std::string room = file.parent_path().lexically_relative(sources).string();
    RoomEdges& edges = table[room];
    const Result<std::string> text = read_file(file);
    for (const Include& include : includes_of(text.ok() ? *text : "")) {
      const std::string target =
          include.quoted ? folder_of(include.path) : third_party_of(include.path);
      if (!target.empty() && target != room) {
        (include.quoted ? edges.rooms : edges.third_party).insert(target);
      }
    }
  }
  return table;
}

}  // namespace kernelpro
