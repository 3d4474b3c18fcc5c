#include "worker/profile/source_match.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/base/demangle.hpp"

namespace kernelpro {
namespace {

using std::string_view;

// Blocks of one page or launches of the other that follow each other and have one bare name.
struct Run {
  std::string name;
  std::vector<std::size_t> members;  // indices, a kernel as often as the page has it
};

void add_to(std::vector<Run>& runs, std::string name, std::size_t member, int times) {
  if (runs.empty() || runs.back().name != name) {
    runs.push_back({.name = std::move(name), .members = {}});
  }
  runs.back().members.insert(runs.back().members.end(), static_cast<std::size_t>(times), member);
}

Error no_match(std::string why) {
  return make_error(ErrorKind::bad_input,
                    "ncu's source page cannot be matched to its launches: " + std::move(why));
}

// Each launch of a run has the same number of blocks, and they are all the same block.
Result<std::vector<std::size_t>> spread(const Run& blocks, std::size_t launches) {
  if (blocks.members.size() % launches != 0) {
    return no_match(fmt::format("{} has {} blocks and {} launches", blocks.name,
                                blocks.members.size(), launches));
  }
  const std::size_t each = blocks.members.size() / launches;
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < blocks.members.size(); ++i) {
    if (i % each == 0) {
      out.push_back(blocks.members[i]);
    } else if (blocks.members[i] != out.back()) {
      return no_match(fmt::format("{} has {} different blocks for one launch", blocks.name, each));
    }
  }
  return out;
}

bool is_in_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$' || static_cast<unsigned char>(c) >= 0x80;
}

void replace_all(std::string& text, string_view what, string_view with) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
}

// Behind the bracket that closes the one at `at`.
std::size_t behind_bracket(string_view text, std::size_t at) {
  int depth = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    depth += c == '<' || c == '(' ? 1 : 0;
    depth -= c == '>' || c == ')' ? 1 : 0;
    if (depth == 0) {
      return at + 1;
    }
  }
  return text.size();
}

}  // namespace

std::string bare_name(string_view name) {
  std::string text = demangled(std::string(name));
  for (const string_view unnamed : {"<unnamed>", "(anonymous namespace)"}) {
    replace_all(text, unnamed, "unnamed");
  }
  // The name ends where its templates or arguments begin, unless a part of it follows these.
  std::size_t at = 0;
  std::string bare;
  while (at < text.size()) {
    const std::size_t open = text.find_first_of("<(", at);
    std::size_t begin = std::min(open, text.size());
    const std::size_t end = begin;
    while (begin > at && is_in_name(text[begin - 1])) {
      --begin;
    }
    bare = end > begin ? text.substr(begin, end - begin) : bare;
    if (open == std::string::npos) {
      break;
    }
    at = behind_bracket(text, open);
    if (text.compare(at, 2, "::") != 0) {
      break;
    }
  }
  return bare.empty() ? text : bare;
}

Result<std::vector<std::size_t>> match_source(const NcuSourceReport& source,
                                              const std::vector<std::string>& launches) {
  std::vector<Run> blocks;
  for (std::size_t i = 0; i < source.kernels.size(); ++i) {
    add_to(blocks, bare_name(source.kernels[i].name), i, source.kernels[i].blocks);
  }
  std::vector<Run> wanted;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    add_to(wanted, bare_name(launches[i]), i, 1);
  }
  if (blocks.size() != wanted.size()) {
    return no_match(fmt::format("it changes between kernels {} times and they {} times",
                                blocks.size(), wanted.size()));
  }
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (blocks[i].name != wanted[i].name) {
      return no_match(
          fmt::format("{} stands where {} was launched", blocks[i].name, wanted[i].name));
    }
    KP_LET(std::vector<std::size_t> spread_out, spread(blocks[i], wanted[i].members.size()));
    out.insert(out.end(), spread_out.begin(), spread_out.end());
  }
  return out;
}

}  // namespace kernelpro
