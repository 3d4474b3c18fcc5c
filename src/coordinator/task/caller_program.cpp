#include "coordinator/task/caller_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "common/base/jail_policy.hpp"
#include "common/base/paths.hpp"
#include "common/base/process.hpp"
#include "coordinator/task/caller_driver.hpp"
#include "coordinator/task/clang_tree.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t caller_memory = 8LL << 30;
constexpr std::int64_t program_bytes = 256LL << 20;
constexpr std::size_t answer_bytes = std::size_t{1} << 28U;

// The call with its arguments taken from tables.
std::string table_call_text(const OwnCall& call) {
  std::string text =
      "extern \"C\" int kp_call(const long* kp_sizes, const double* kp_scalars, void* const* "
      "kp_data) {\n  (void)kp_sizes; (void)kp_scalars; (void)kp_data;\n";
  int sizes = 0;
  int scalars = 0;
  int arrays = 0;
  for (const Leaf& leaf : call.leaves) {
    if (leaf.kind == Leaf::Kind::axis) {
      text += fmt::format("  [[maybe_unused]] const long {} = kp_sizes[{}];\n", leaf.name, sizes++);
    } else if (leaf.kind == Leaf::Kind::scalar) {
      text += fmt::format("  [[maybe_unused]] const double {} = kp_scalars[{}];\n", leaf.name,
                          scalars++);
    } else {
      text +=
          fmt::format("  [[maybe_unused]] void* const {} = kp_data[{}];\n", leaf.name, arrays++);
    }
  }
  return text + call.before + call.call + call.after + "  return 0;\n}\n";
}

void put_number(std::string& text, std::int64_t number) {
  text.append(reinterpret_cast<const char*>(&number), sizeof number);
}

std::string calls_text(const std::vector<CallerCall>& calls) {
  std::string text;
  for (const CallerCall& call : calls) {
    put_number(text, std::ssize(call.sizes));
    for (const std::int64_t size : call.sizes) {
      put_number(text, size);
    }
    put_number(text, std::ssize(call.scalars));
    for (const double scalar : call.scalars) {
      put_number(text, std::bit_cast<std::int64_t>(scalar));
    }
    put_number(text, std::ssize(call.arrays));
    for (const CallerArray& array : call.arrays) {
      put_number(text, std::ssize(array.content));
      put_number(text, array.place);
      put_number(text, array.same);
      text += array.same < 0 ? array.content : "";
    }
  }
  return text;
}

std::string_view take_text(std::string_view& text, std::size_t bytes) {
  const std::string_view taken = text.substr(0, std::min(bytes, text.size()));
  text.remove_prefix(taken.size());
  return taken;
}

// What the program said of one call; one that said nothing took too long.
CallerResult take_result(std::string_view& text, const CallerCall& call) {
  CallerResult result;
  result.signal = SIGALRM;
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) {
    return result;
  }
  const std::string line(take_text(text, end + 1));
  int intact = 0;
  if (std::sscanf(line.c_str(), "ok %d %d", &result.status, &intact) != 2) {
    result.signal =
        std::sscanf(line.c_str(), "signal %d", &result.signal) == 1 ? result.signal : SIGABRT;
    return result;
  }
  result.signal = 0;
  result.intact = intact != 0;
  for (const CallerArray& array : call.arrays) {
    result.arrays.emplace_back(take_text(text, array.same < 0 ? array.content.size() : 0));
  }
  return result;
}

std::vector<std::string> system_folders() {
  return {"/usr/bin",       "/bin",
          "/usr/lib",       "/lib",
          "/usr/lib64",     "/lib64",
          "/usr/libexec",   "/usr/include",
          "/usr/local/lib", "/usr/local/include",
          "/proc/cpuinfo",  "/etc/ld.so.cache"};
}

// `folder` is read, its part `out` is written to.
Result<Finished> run_jailed(const fs::path& folder, const std::vector<std::string>& program,
                            bool writes, std::int64_t timeout_ms, std::stop_token stop) {
  KP_LET(const fs::path jail, sibling_program("kernelpro-jail"));
  const std::string out = (folder / "out").string();
  JailPolicy policy;
  policy.read = system_folders();
  policy.read.push_back(folder.string());
  if (writes) {
    policy.write = {out};
    policy.file_bytes = program_bytes;
  }
  policy.memory_bytes = caller_memory;
  policy.landlock = landlock_abi() > 0;
  policy.guard = true;
  Command command;
  command.guarded = true;
  command.arguments = jail_arguments(jail.string(), policy, program);
  // Several threads: what works by the order of one thread alone must not pass here.
  command.environment = {{"PATH", "/usr/bin:/bin"},
                         {"LC_ALL", "C"},
                         {"HOME", out},
                         {"TMPDIR", out},
                         {"OMP_NUM_THREADS", "4"}};
  command.timeout_ms = timeout_ms;
  command.output_limit = answer_bytes;
  KP_LET(Finished finished, run_command(command, std::move(stop)));
  if (finished.signal == 0 && finished.exit_code == jail_failed_exit_code) {
    return make_error(ErrorKind::environment, finished.errors, "calling the function as others do");
  }
  return finished;
}

Status let_read(const fs::path& path, fs::perms mode) {
  std::error_code failed;
  fs::permissions(path, mode, failed);
  return failed ? Status(make_error(ErrorKind::io, failed.message(), path.string())) : Status();
}

Status write_readable(const fs::path& path, const std::string& text) {
  KP_TRY(write_file_unsynced(path, text));
  return let_read(path, fs::perms(0644));
}

Result<std::string> compiler_path(const std::string& name) {
  const auto path = find_program(name);
  return path
             ? Result<std::string>(*path)
             : Result<std::string>(make_error(ErrorKind::environment, "it is not installed", name));
}

bool has_standard(const std::vector<std::string>& options) {
  return std::ranges::any_of(options,
                             [](const std::string& one) { return one.starts_with("-std="); });
}

}  // namespace

std::vector<std::vector<std::string>> target_flag_choices() {
#if defined(__x86_64__)
  return {{"-march=native"}, {"-march=x86-64-v3"}, {}};
#elif defined(__aarch64__)
  return {{"-mcpu=native"}, {"-mcpu=native+nosve"}, {}};
#else
  return {{}};
#endif
}

CallerBuild own_caller_build(const std::string& compiler, const std::vector<std::string>& options,
                             const std::vector<std::string>& target) {
  CallerBuild build{compiler.empty() ? "g++" : compiler, {}};
  if (!has_standard(options)) {
    build.options.emplace_back("-std=c++20");
  }
  for (const std::string& option : options) {
    if (option == "target") {
      build.options.insert(build.options.end(), target.begin(), target.end());
    } else {
      build.options.push_back(option == "openmp" ? "-fopenmp" : option);
    }
  }
  return build;
}

CallerBuild checked_caller_build(const std::vector<std::string>& options,
                                 const std::vector<std::string>& target) {
  CallerBuild build{
      clang_program,
      {"-O1", "-fsanitize=undefined", "-fno-sanitize=vptr,function", "-fsanitize-trap=undefined"}};
  if (!has_standard(options)) {
    build.options.emplace_back("-std=c++20");
  }
  for (const std::string& option : options) {
    if (option == "target") {
      build.options.insert(build.options.end(), target.begin(), target.end());
    } else if (option.starts_with("-D") || option.starts_with("-std=") ||
               option.starts_with("-m")) {
      build.options.push_back(option);
    }
  }
  return build;
}

Result<bool> is_c(const std::string& source, const CallerBuild& build, std::stop_token stop) {
  KP_LET(const ScratchDir folder, ScratchDir::create("callers"));
  KP_TRY(let_read(folder.path(), fs::perms(0755)));
  const std::string unit = (folder.path() / "unit.c").string();
  KP_TRY(write_readable(unit, source));
  KP_LET(const std::string compiler, compiler_path(build.compiler));
  std::vector<std::string> words = {compiler, "-x", "c", "-w", "-fsyntax-only"};
  std::ranges::copy_if(build.options, std::back_inserter(words), [](const std::string& option) {
    return !option.starts_with("-std=") || option.find("++") == std::string::npos;
  });
  words.push_back(unit);
  KP_LET(const Finished finished,
         run_jailed(folder.path(), words, false, compiler_timeout_ms, std::move(stop)));
  return finished.succeeded();
}

Result<CallerProgram> CallerProgram::build(const std::string& source, const OwnCall& call,
                                           const CallerBuild& build, std::stop_token stop) {
  KP_LET(ScratchDir folder, ScratchDir::create("callers"));
  const auto at = [&](const char* name) { return (folder.path() / name).string(); };
  KP_TRY(let_read(folder.path(), fs::perms(0755)));
  KP_TRY(make_directories(at("out")));
  KP_TRY(let_read(at("out"), fs::perms(0777)));
  KP_TRY(write_readable(at("unit.cpp"), std::string(caller_head) + "#define main kp_other_main\n" +
                                            source + "\n#undef main\n" + table_call_text(call)));
  KP_TRY(write_readable(at("main.cpp"), std::string(caller_main)));
  KP_LET(const std::string compiler, compiler_path(build.compiler));
  KP_LET(const std::string linker, compiler_path("g++"));
  // The program around the function is no part of what is checked.
  std::vector<std::string> words = {compiler, "-w", "-c"};
  words.insert(words.end(), build.options.begin(), build.options.end());
  words.insert(words.end(), {at("unit.cpp"), "-o", at("out/unit.o")});
  const std::vector<std::string> link = {
      linker,     "-w",      "-O1", at("main.cpp"), at("out/unit.o"), "-o", at("out/program"),
      "-pthread", "-fopenmp"};
  for (const auto& step : {words, link}) {
    KP_LET(const Finished finished,
           run_jailed(folder.path(), step, true, compiler_timeout_ms, stop));
    if (!finished.succeeded()) {
      // A patch whose build does not end is no better than one that cannot be built.
      const Status ended = check_ended(finished, step[0]);
      return make_error(ErrorKind::bad_input,
                        ended.ok() ? first_errors(finished.errors) : ended.error().message,
                        "building it");
    }
  }
  CallerProgram program;
  program.folder_ = std::make_shared<ScratchDir>(std::move(folder));
  return program;
}

Result<std::vector<CallerResult>> CallerProgram::run(const std::vector<CallerCall>& calls,
                                                     std::stop_token stop) const {
  KP_TRY(write_readable(folder_->path() / "calls", calls_text(calls)));
  const std::string start =
      fmt::format("exec '{0}/out/program' < '{0}/calls'", folder_->path().string());
  KP_LET(const Finished finished,
         run_jailed(folder_->path(), {"/bin/sh", "-c", start}, false, 300'000, std::move(stop)));
  std::vector<CallerResult> results;
  results.reserve(calls.size());
  std::string_view answer = finished.output;
  for (const CallerCall& call : calls) {
    results.push_back(take_result(answer, call));
  }
  return results;
}

}  // namespace kernelpro
