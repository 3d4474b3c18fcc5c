#include "coordinator/task/probe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "common/base/jail_policy.hpp"
#include "common/base/paths.hpp"
#include "common/base/process.hpp"
#include "coordinator/task/clang_tree.hpp"
#include "coordinator/task/probe_driver.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t default_filled = 1 << 17;
constexpr std::int64_t memory_bytes = 16LL << 30;

int type_number(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return 1;
    case DType::i8:
      return 2;
    case DType::u8:
      return 3;
    case DType::i16:
      return 4;
    case DType::i32:
      return 5;
    case DType::i64:
      return 6;
    default:
      return 0;
  }
}

// Calls the function with what the driver made. The hooks count tensors by leaf, so leaves that are
// none are given a place too.
std::string call_text(const OwnCall& call) {
  std::string text = "extern \"C\" int kp_call(const long* kp_axes, void* const* kp_data) {\n";
  std::size_t axis = 0;
  for (std::size_t i = 0; i < call.leaves.size(); ++i) {
    const Leaf& leaf = call.leaves[i];
    if (leaf.kind == Leaf::Kind::axis) {
      text += fmt::format("  [[maybe_unused]] const long {} = kp_axes[{}];\n", leaf.name, axis++);
    } else if (leaf.kind == Leaf::Kind::scalar) {
      text += fmt::format("  [[maybe_unused]] const double {} = {};\n", leaf.name, leaf.sample);
    } else {
      text += fmt::format("  [[maybe_unused]] void* const {} = kp_data[{}];\n", leaf.name, i);
    }
  }
  return text + call.probe_before + "  kp_watching = true;\n" + call.call +
         "  kp_watching = false;\n" + call.probe_after + "  return 0;\n}\n";
}

std::string tables_text(const OwnCall& call, int seconds, std::int64_t bytes) {
  std::vector<int> types;
  std::vector<int> lanes;
  std::size_t axes = 0;
  for (const Leaf& leaf : call.leaves) {
    types.push_back(leaf.kind == Leaf::Kind::tensor ? type_number(leaf.element.dtype) : 0);
    lanes.push_back(leaf.element.lanes);
    axes += leaf.kind == Leaf::Kind::axis ? 1 : 0;
  }
  return fmt::format(
      "#define KP_TENSORS {}\n#define KP_AXES {}\n#define KP_SECONDS {}\n#define KP_BYTES {}ul\n"
      "static const int kp_types[] = {{{}}};\nstatic const int kp_lanes[] = {{{}}};\n",
      call.leaves.size(), axes, seconds, bytes, fmt::join(types, ", "), fmt::join(lanes, ", "));
}

std::string input_line(const OwnCall& call, const TrialCall& trial) {
  std::string line;
  for (const Leaf& leaf : call.leaves) {
    if (leaf.kind == Leaf::Kind::axis) {
      const auto value = trial.axes.find(leaf.name);
      line += fmt::format("{} ", value == trial.axes.end() ? 1 : value->second);
    }
  }
  for (const Leaf& leaf : call.leaves) {
    const auto given = trial.filling.find(leaf.name);
    const bool whole = leaf.kind == Leaf::Kind::tensor && !is_floating(leaf.element.dtype);
    const Filling usual = whole ? Filling{Filling::Kind::constant, 0} : Filling{};
    const Filling filling = given != trial.filling.end() ? given->second : usual;
    const auto filled = trial.filled.find(leaf.name);
    std::int64_t count = filled != trial.filled.end() ? filled->second : default_filled;
    count = leaf.kind == Leaf::Kind::tensor ? count : 0;
    line += fmt::format("{} {} {} ", static_cast<int>(filling.kind), filling.number, count);
  }
  return line + fmt::format("{}\n", trial.repeats);
}

TrialResult read_result(const OwnCall& call, const std::string& line) {
  std::istringstream words(line);
  std::string first;
  TrialResult result;
  words >> first;
  if (first != "ok") {
    int signal = SIGABRT;
    if (first == "signal") {
      words >> signal;
    }
    result.signal = signal == SIGXCPU ? SIGALRM : signal;
    return result;
  }
  words >> result.nanoseconds;
  for (const Leaf& leaf : call.leaves) {
    TouchedTensor one;
    int fresh = 0;
    int finite = 0;
    words >> one.loaded >> one.stored >> fresh >> one.written >> one.size >> finite >> one.loads >>
        one.hash;
    one.least = one.written;
    one.fresh_read = fresh != 0;
    one.finite = finite != 0;
    if (leaf.kind == Leaf::Kind::tensor) {
      result.tensors[leaf.name] = one;
    }
  }
  result.returned = !words.fail();
  return result;
}

// "n > 0" of "probe: f.cpp:3: void f(int): Assertion `n > 0' failed.", one line for each.
void add_assertions(const std::string& errors, std::vector<TrialResult>& results) {
  constexpr std::string_view before = "Assertion `";
  std::size_t at = 0;
  for (TrialResult& one : results) {
    const std::size_t begin = one.signal == SIGABRT ? errors.find(before, at) : std::string::npos;
    if (begin != std::string::npos) {
      at = std::min(errors.find("' failed", begin), errors.size());
      one.assertion = errors.substr(begin + before.size(), at - begin - before.size());
    }
  }
}

std::string openmp_library() {
  Command command;
  command.arguments = {"g++", "-print-file-name=libgomp.so"};
  const auto asked = run_command(command);
  return asked.ok() ? asked->output.substr(0, asked->output.find('\n')) : "";
}

// The compiler's own copies as calls of ours.
std::string with_hooks(std::string tree) {
  static const std::vector<std::pair<std::string, std::string>> names = {
      {"@llvm.memcpy.p0.p0.i64", "@kp_copy_hook"},
      {"@llvm.memmove.p0.p0.i64", "@kp_copy_hook"},
      {"@llvm.memset.p0.i64", "@kp_fill_hook"},
      {"@memcpy(", "@kp_copy_call("},
      {"@memmove(", "@kp_copy_call("},
      {"@memset(", "@kp_fill_call("},
      {" immarg", ""}};
  for (const auto& [from, to] : names) {
    for (std::size_t at = tree.find(from); at != std::string::npos; at = tree.find(from, at)) {
      tree.replace(at, from.size(), to);
      at += to.size();
    }
  }
  // Two names became one: it is declared once.
  std::istringstream lines(tree);
  std::set<std::string> declared;
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t name = line.find("@kp_");
    const bool declares = line.starts_with("declare ") && name != std::string::npos;
    if (!declares || declared.insert(line.substr(name, line.find('(', name) - name)).second) {
      text += line + "\n";
    }
  }
  return text;
}

Status run_compiler(std::vector<std::string> words, const std::string& what, const fs::path& source,
                    std::stop_token stop) {
  Command command;
  command.arguments = std::move(words);
  command.inherit_environment = true;
  command.timeout_ms = compiler_timeout_ms;
  KP_LET(const Finished finished, run_command(command, std::move(stop)));
  KP_TRY(check_ended(finished, command.arguments[0]));
  return finished.succeeded() ? Status()
                              : make_error(ErrorKind::bad_input,
                                           what + first_errors(finished.errors), source.string());
}

// C's keyword, which C++ compilers know by another name.
std::vector<std::string> language_flags(const OwnSource& source) {
  std::vector<std::string> flags = source.flags;
  if (source.file.extension() == ".c") {
    flags.emplace_back("-Drestrict=__restrict__");
  }
  return flags;
}

}  // namespace

Result<Probe> Probe::build(const OwnSource& source, const OwnCall& call, Purpose purpose,
                           std::stop_token stop) {
  KP_LET(ScratchDir folder, ScratchDir::create("probe"));
  std::error_code ignored;
  fs::permissions(folder.path(), fs::perms(0755), ignored);
  const bool watch = purpose == Purpose::watch;
  const auto at = [&](const char* name) { return (folder.path() / name).string(); };
  KP_TRY(write_file_unsynced(
      at("unit.cpp"), std::string(probe_head) +
                          fmt::format("#define main kp_other_main\n#include \"{}\"\n#undef main\n",
                                      fs::absolute(source.file, ignored).string()) +
                          call_text(call)));
  KP_TRY(write_file_unsynced(
      at("main.cpp"),
      tables_text(call, watch ? 2 : 10, watch ? 1LL << 26 : 1LL << 29) + std::string(probe_main)));
  const std::string trouble = "it cannot be called: ";
  std::vector<std::string> words = watch ? clang_command(language_flags(source))
                                         : std::vector<std::string>{"g++", "-w", "-std=c++20"};
  if (watch) {
    words.insert(words.end(), {"-O0", "-fsanitize-coverage=func,trace-loads,trace-stores",
                               "-fsanitize=undefined", "-fno-sanitize=vptr,function,alignment",
                               "-fsanitize-trap=undefined", "-S", "-emit-llvm", at("unit.cpp"),
                               "-o", at("unit.ll")});
    KP_TRY(run_compiler(words, trouble, source.file, stop));
    KP_LET(const std::string tree, read_file(at("unit.ll")));
    KP_TRY(write_file_unsynced(at("unit.ll"), with_hooks(tree)));
    KP_TRY(run_compiler({clang_program, "-w", "-O0", "-c", at("unit.ll"), "-o", at("unit.o")},
                        trouble, source.file, stop));
  } else {
    const auto flags = language_flags(source);
    words.insert(words.end(), flags.begin(), flags.end());
    words.insert(words.end(), {"-O2", "-c", at("unit.cpp"), "-o", at("unit.o")});
    KP_TRY(run_compiler(words, trouble, source.file, stop));
  }
  std::vector<std::string> link = {"g++",        "-w", "-O1",       at("main.cpp"),
                                   at("unit.o"), "-o", at("probe"), "-pthread"};
  if (const std::string library = openmp_library(); library.find('/') != std::string::npos) {
    link.push_back(library);
  }
  KP_TRY(run_compiler(
      link, "it needs code of other files, and a task has one source: ", source.file, stop));
  Probe probe;
  probe.folder_ = std::make_shared<ScratchDir>(std::move(folder));
  probe.call_ = call;
  return probe;
}

Result<std::vector<TrialResult>> Probe::run(const std::vector<TrialCall>& calls,
                                            std::stop_token stop) const {
  std::string input;
  for (const TrialCall& call : calls) {
    input += input_line(call_, call);
  }
  const fs::path file = folder_->path() / "calls";
  KP_TRY(write_file_unsynced(file, input));
  std::error_code ignored;
  fs::permissions(file, fs::perms(0644), ignored);
  KP_LET(const fs::path jail, sibling_program("kernelpro-jail"));
  JailPolicy policy;
  policy.read = {"/usr/bin", "/bin",       "/usr/lib",         "/lib",
                 "/lib64",   "/usr/lib64", "/etc/ld.so.cache", folder_->path().string()};
  policy.memory_bytes = memory_bytes;
  policy.landlock = landlock_abi() > 0;
  policy.guard = true;
  Command command;
  command.guarded = true;
  command.arguments = jail_arguments(
      jail.string(), policy,
      {"/bin/sh", "-c", fmt::format("exec '{0}/probe' < '{0}/calls'", folder_->path().string())});
  command.environment = {{"PATH", "/usr/bin:/bin"}, {"OMP_NUM_THREADS", "1"}};
  command.timeout_ms = 600'000;
  command.output_limit = std::size_t{16} << 20U;
  KP_LET(const Finished finished, run_command(command, std::move(stop)));
  if (finished.signal == 0 && finished.exit_code == jail_failed_exit_code) {
    return make_error(ErrorKind::environment, finished.errors, "starting the function on trial");
  }
  std::vector<TrialResult> results;
  std::istringstream lines(finished.output);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("ok ") || line.starts_with("signal ") || line.starts_with("exit ")) {
      results.push_back(read_result(call_, line));
    }
  }
  results.resize(calls.size(), TrialResult{false, SIGALRM, "", 0, {}});
  add_assertions(finished.errors, results);
  *endless_ += static_cast<int>(
      std::min<std::ptrdiff_t>(3, std::ranges::count(results, SIGALRM, &TrialResult::signal)));
  return results;
}

}  // namespace kernelpro
