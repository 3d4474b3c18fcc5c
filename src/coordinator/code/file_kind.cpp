#include "coordinator/code/file_kind.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "common/base/text.hpp"

namespace kernelpro::code {

namespace {

constexpr std::array<std::string_view, 20> code_endings = {
    "c",   "cc",  "cpp", "cxx", "c++", "h",   "hh",  "hpp", "hxx", "h++",
    "inl", "inc", "ipp", "tpp", "cu",  "cuh", "ptx", "py",  "ixx", "cppm"};
constexpr std::array<std::string_view, 2> document_endings = {"md", "rst"};
constexpr std::array<std::string_view, 9> example_folders = {"example", "examples", "sample",
                                                             "samples", "tutorial", "tutorials",
                                                             "demo",    "demos",    "winners"};
constexpr std::array<std::string_view, 5> test_folders = {"test", "tests", "unit", "testing",
                                                          "unittest"};
constexpr std::array<std::string_view, 6> inner_folders = {"detail",   "details",   "impl",
                                                           "internal", "internals", "_impl"};

template <std::size_t N>
bool holds(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::string_view ending_of(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : name.substr(dot + 1);
}

// Whether a folder on the way to the file is one of `names`.
template <std::size_t N>
bool lies_in(std::string_view path, const std::array<std::string_view, N>& names) {
  for (std::size_t slash = path.find('/'); slash != std::string_view::npos;
       path.remove_prefix(slash + 1), slash = path.find('/')) {
    if (holds(names, path.substr(0, slash))) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::string_view name_of(FileKind kind) {
  static constexpr std::array<std::string_view, 6> names = {"example", "source",   "internal",
                                                            "test",    "document", "script"};
  return names.at(static_cast<std::size_t>(kind));
}

FileKind kind_of(std::string_view path) {
  if (holds(document_endings, ending_of(path))) {
    return FileKind::document;
  }
  if (ending_of(path) == "py") {
    return FileKind::script;
  }
  if (lies_in(path, test_folders)) {
    return FileKind::test;
  }
  if (lies_in(path, example_folders)) {
    return FileKind::example;
  }
  return lies_in(path, inner_folders) ? FileKind::internal : FileKind::source;
}

bool is_read(std::string_view path) {
  return holds(code_endings, ending_of(path)) || holds(document_endings, ending_of(path));
}

}  // namespace kernelpro::code
