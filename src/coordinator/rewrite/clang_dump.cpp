#include "coordinator/rewrite/clang_dump.hpp"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "common/base/file.hpp"
#include "common/base/jail_policy.hpp"
#include "common/base/process.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::size_t largest_dump = std::size_t{512} << 20U;
constexpr std::int64_t compiler_memory = 8LL << 30;
constexpr int deepest_tree = 1000;
const char* const source_name = "candidate.cpp";

std::string string_at(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

bool flag_at(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_boolean() && found->get<bool>();
}

std::size_t number_at(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_unsigned() ? found->get<std::size_t>() : 0;
}

// Where a place is written: of something that a macro made, the macro's use.
const json& written_place(const json& place, bool& in_macro) {
  const auto expansion = place.find("expansionLoc");
  in_macro = expansion != place.end();
  return in_macro ? *expansion : place;
}

void read_range(const json& object, AstNode& node) {
  const auto range = object.find("range");
  if (range == object.end() || !range->contains("begin") || !range->contains("end")) {
    return;
  }
  const json& begin = written_place((*range)["begin"], node.begins_in_macro);
  const json& end = written_place((*range)["end"], node.ends_in_macro);
  node.begin = number_at(begin, "offset");
  node.end = number_at(end, "offset") + number_at(end, "tokLen");
}

AstNode read_node(const json& object, int depth) {
  AstNode node;
  if (!object.is_object()) {
    return node;
  }
  node.kind = string_at(object, "kind");
  node.name = string_at(object, "name");
  node.opcode = string_at(object, "opcode");
  node.storage = string_at(object, "storageClass");
  node.arrow = flag_at(object, "isArrow");
  node.has_init = flag_at(object, "hasInit");
  node.has_variable = flag_at(object, "hasVar");
  node.is_constexpr = flag_at(object, "constexpr") || flag_at(object, "isConstexpr");
  node.is_inline = flag_at(object, "inline");
  if (const auto type = object.find("type"); type != object.end()) {
    node.type = string_at(*type, "qualType");
  }
  if (const auto place = object.find("loc"); place != object.end()) {
    bool in_macro = false;
    node.place = number_at(written_place(*place, in_macro), "offset");
  }
  read_range(object, node);
  if (const auto inner = object.find("inner"); inner != object.end() && depth < deepest_tree) {
    for (const json& child : *inner) {
      node.inner.push_back(read_node(child, depth + 1));
    }
  }
  return node;
}

Status write_readable(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  std::error_code failure;
  fs::permissions(path, fs::perms(0644), failure);
  if (!file || failure) {
    return make_error(ErrorKind::io,
                      "could not be written; free space there, or set TMPDIR to another folder",
                      path.string());
  }
  return {};
}

// The source and a copy of the public header, readable for whom the jail becomes.
Status lay_out(const fs::path& folder, const std::string& source, const fs::path& abi_include) {
  KP_TRY(write_readable(folder / source_name, source));
  if (abi_include.empty()) {
    return {};
  }
  const Result<std::string> header = read_file(abi_include / "kernelpro" / "candidate.h");
  if (!header) {
    return header.error();
  }
  KP_TRY(make_directories(folder / "kernelpro"));
  std::error_code failure;
  fs::permissions(folder / "kernelpro", fs::perms(0755), failure);
  return write_readable(folder / "kernelpro" / "candidate.h", *header);
}

Command clang_command(const fs::path& folder, const std::string& name,
                      const ParseSettings& settings) {
  JailPolicy policy;
  policy.read = {"/usr/bin",         "/bin",         "/usr/lib",     "/lib",
                 "/usr/lib64",       "/lib64",       "/usr/include", "/usr/local/include",
                 "/etc/ld.so.cache", folder.string()};
  policy.memory_bytes = compiler_memory;
  policy.landlock = settings.landlock;
  Command command;
  command.arguments =
      jail_arguments(settings.jail.string(), policy,
                     {settings.clang, "-std=c++20", "-I.", "-fsyntax-only", "-w",
                      "-fno-color-diagnostics", "-fno-caret-diagnostics", "-Xclang",
                      "-ast-dump=json", "-Xclang", "-ast-dump-filter=" + name, source_name});
  command.directory = folder.string();
  command.environment = {{"PATH", "/usr/bin:/bin"}, {"LC_ALL", "C"}};
  command.timeout_ms = settings.timeout_ms;
  command.output_limit = largest_dump;
  return command;
}

}  // namespace

Result<ClangDump> dump_namespace(const std::string& source, const std::string& name,
                                 const ParseSettings& settings, std::stop_token stop) {
  const Result<ScratchDir> scratch = ScratchDir::create("rewrite");
  if (!scratch) {
    return scratch.error();
  }
  KP_TRY(lay_out(scratch->path(), source, settings.abi_include));
  const Result<Finished> finished =
      run_command(clang_command(scratch->path(), name, settings), std::move(stop));
  if (!finished) {
    return finished.error();
  }
  if (finished->timed_out) {
    return make_error(ErrorKind::timeout,
                      fmt::format("it did not read the source within {} ms; try again when the "
                                  "machine is less busy",
                                  settings.timeout_ms),
                      settings.clang);
  }
  if (finished->signal == 0 && finished->exit_code == jail_failed_exit_code) {
    return make_error(ErrorKind::environment,
                      finished->errors + "; install clang-19 to rewrite C++ sources",
                      "starting " + settings.clang);
  }
  ClangDump dump;
  dump.compiled = finished->succeeded();
  dump.diagnostics = finished->errors;
  if (!dump.compiled) {
    return dump;
  }
  // One document after the other; only the brace that closes one stands at the start of a line.
  const std::string& text = finished->output;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t close = text.find("\n}\n", begin);
    const std::size_t end = close == std::string::npos ? text.size() : close + 3;
    const json document =
        json::parse(text.begin() + static_cast<std::ptrdiff_t>(begin),
                    text.begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
    if (document.is_discarded()) {
      return make_error(ErrorKind::internal, "its syntax tree could not be read", settings.clang);
    }
    dump.namespaces.push_back(read_node(document, 0));
    begin = end;
  }
  return dump;
}

}  // namespace kernelpro
