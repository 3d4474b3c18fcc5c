#include "worker/toolchain/header_tree.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "worker/toolchain/workplace.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;

// The words of a rule: separated by spaces and line ends, of which a backslash takes the meaning.
std::vector<std::string> words_of(std::string_view rule) {
  std::vector<std::string> words(1);
  for (std::size_t i = 0; i < rule.size(); ++i) {
    const bool escaped = rule[i] == '\\' && i + 1 < rule.size();
    if (escaped && (rule[i + 1] == ' ' || rule[i + 1] == '#')) {
      words.back() += rule[++i];
    } else if (rule[i] == ' ' || rule[i] == '\n' || (escaped && rule[i + 1] == '\n')) {
      words.emplace_back();
    } else {
      words.back() += rule[i];
    }
  }
  return words;
}

std::string_view behind_spaces(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(" \t"), text.size()));
}

}  // namespace

Result<HeaderTree> HeaderTree::lay(std::vector<HeaderLibrary> libraries) {
  KP_LET(ScratchDir scratch, ScratchDir::create("headers"));
  for (const HeaderLibrary& library : libraries) {
    KP_TRY(check_library(library));
    for (const auto& [path, text] : library.files) {
      KP_TRY(lay_below(scratch.path(), library.name + "/" + path, text));
    }
  }
  return HeaderTree(std::move(scratch), std::move(libraries));
}

bool HeaderTree::has(std::string_view include) const {
  const std::string path = fs::path(include).lexically_normal().string();
  return std::ranges::any_of(libraries_, [&path](const HeaderLibrary& library) {
    return library.files.contains(path) || library.left_out.contains(path);
  });
}

bool HeaderTree::may_include(std::string_view text) const {
  constexpr std::string_view directive = "include";
  for (std::size_t at = text.find('#'); at != std::string_view::npos; at = text.find('#', at + 1)) {
    std::string_view rest = behind_spaces(text.substr(at + 1));
    if (!rest.starts_with(directive)) {
      continue;
    }
    rest = behind_spaces(rest.substr(directive.size()));
    const std::size_t end = rest.find_first_of(">\"\n", 1);
    const bool named = !rest.empty() && (rest[0] == '<' || rest[0] == '"');
    // What a macro names is not known here.
    if (!named || (end != std::string_view::npos && has(rest.substr(1, end - 1)))) {
      return true;
    }
  }
  return false;
}

bool HeaderTree::may_serve(const BuildRequest& request) const {
  return may_include(request.source) || std::ranges::any_of(request.files, [this](const auto& one) {
           return may_include(one.second);
         });
}

std::vector<IncludedLibrary> HeaderTree::named_in(std::string_view rule) const {
  std::map<std::string, std::vector<std::string>> paths;
  for (const std::string& word : words_of(rule)) {
    const fs::path below = fs::path(word).lexically_normal().lexically_relative(root());
    if (!word.empty() && !below.empty() && *below.begin() != "..") {
      const std::string name = below.begin()->string();
      paths[name].push_back(below.lexically_relative(name).string());
    }
  }
  std::vector<IncludedLibrary> out;
  for (const HeaderLibrary& library : libraries_) {
    IncludedLibrary part = included_part(library, paths[library.name]);
    if (!part.files.empty()) {
      out.push_back(std::move(part));
    }
  }
  return out;
}

const HeaderLibrary& HeaderTree::library(const std::string& name) const {
  return *std::ranges::find(libraries_, name, &HeaderLibrary::name);
}

std::string HeaderTree::notes_on(std::string_view diagnostics) const {
  std::string out;
  for (const HeaderLibrary& library : libraries_) {
    for (const auto& [path, reason] : library.left_out) {
      if (diagnostics.find(fs::path(path).filename().string()) != std::string_view::npos) {
        out +=
            "note: " + library.name + "/" + path + " was left out of the library: " + reason + "\n";
      }
    }
  }
  return out;
}

}  // namespace kernelpro
