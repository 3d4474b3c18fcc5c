#include "coordinator/rewrite/parse.hpp"

#include <utility>

#include "common/model/adapter.hpp"
#include "coordinator/rewrite/clang_dump.hpp"
#include "coordinator/rewrite/convert.hpp"
#include "coordinator/rewrite/scope.hpp"

namespace kernelpro {
namespace {

constexpr std::size_t longest_diagnostics = 4000;

// The text and functions of the source behind its head.
std::vector<Item> items_of(const std::string& source, const ScopedSource& scoped,
                           std::vector<ConvertedFunction> functions) {
  std::vector<Item> items;
  std::size_t at = scoped.head;
  // Stays as it is: the author's function counts.
  const std::size_t adapter = adapter_place(source);
  const auto add_text = [&](std::size_t end) {
    if (end > at) {
      items.push_back({false, source.substr(at, end - at), {}});
    }
  };
  for (ConvertedFunction& one : functions) {
    const std::size_t begin = scoped.original(one.begin);
    const std::size_t end = scoped.original(one.end);
    if (begin < at || end > source.size() || begin >= adapter) {
      continue;
    }
    add_text(begin);
    items.push_back({true, {}, std::move(one.function)});
    at = end;
  }
  add_text(source.size());
  return items;
}

Error compile_error(std::string diagnostics) {
  if (diagnostics.size() > longest_diagnostics) {
    diagnostics.resize(longest_diagnostics);
  }
  return make_error(ErrorKind::bad_input,
                    "the source does not compile, so it cannot be rewritten:\n" + diagnostics);
}

}  // namespace

Result<Program> parse_program(const std::string& source, const ParseSettings& settings,
                              std::stop_token stop) {
  const ScopedSource scoped = put_in_scope(source);
  Result<ClangDump> dump = dump_namespace(scoped.text, scope_name, settings, stop);
  if (!dump) {
    return dump.error();
  }
  Program program;
  if (dump->compiled) {
    program.head = source.substr(0, scoped.head);
    program.items = items_of(source, scoped, convert_functions(dump->namespaces, scoped.text));
    return program;
  }
  // Some sources compile only outside of a namespace: they stay text.
  ParseSettings plain = settings;
  plain.prepared_headers.clear();  // so that nothing that may be wrong with them is said of it
  dump = dump_namespace(source, scope_name, plain, std::move(stop));
  if (!dump) {
    return dump.error();
  }
  if (!dump->compiled) {
    return compile_error(std::move(dump->diagnostics));
  }
  program.head = source;
  return program;
}

}  // namespace kernelpro
