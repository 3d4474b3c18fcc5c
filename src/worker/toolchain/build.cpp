#include "worker/toolchain/build.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "common/base/clock.hpp"
#include "common/base/hash.hpp"
#include "worker/toolchain/diagnostics.hpp"
#include "worker/toolchain/probe.hpp"
#include "worker/toolchain/workplace.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;

constexpr const char* source_name = "candidate.cpp";
constexpr const char* preprocessed_name = "candidate.ii";
constexpr const char* library_name = "candidate.so";
constexpr std::int64_t largest_preprocessed = 64LL << 20;
constexpr std::int64_t largest_library = 512LL << 20;
constexpr std::uintmax_t nearly_full = 16U << 20;

using Words = std::vector<std::string>;

void append(Words& to, const Words& from) {
  to.insert(to.end(), from.begin(), from.end());
}

bool any_starts_with(const Words& words, std::string_view prefix) {
  return std::ranges::any_of(
      words, [prefix](const std::string& word) { return word.starts_with(prefix); });
}

bool is_plain_file_name(const std::string& name) {
  return !name.empty() && name[0] != '.' && name[0] != '-' && name != source_name &&
         name.find('/') == std::string::npos && name.find('\0') == std::string::npos;
}

bool is_library_name(const std::string& name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

// The steps of one build, sharing its folder and its time.
class Build {
 public:
  Build(const BuildSetting& setting, const BuildRequest& request, const Workplace& place,
        std::stop_token stop)
      : setting_(setting),
        request_(request),
        place_(place),
        stop_(std::move(stop)),
        start_ns_(now_ns()) {}

  Result<BuildOutcome> run();

 private:
  [[nodiscard]] Status lay_sources() const;
  [[nodiscard]] Result<Finished> call(const Words& words, std::int64_t file_bytes) const;
  [[nodiscard]] Result<Finished> preprocess() const;
  [[nodiscard]] Result<Finished> compile() const;
  [[nodiscard]] std::string key(const std::string& preprocessed) const;
  [[nodiscard]] Result<BuildOutcome> failed(const Finished& finished) const;
  [[nodiscard]] Result<BuildOutcome> keep(const std::string& key, const Finished& compiled) const;
  [[nodiscard]] Words folder_flags() const;

  const BuildSetting& setting_;
  const BuildRequest& request_;
  const Workplace& place_;
  std::stop_token stop_;
  std::int64_t start_ns_;
};

BuildOutcome outcome_of(CachedBuild build) {
  BuildOutcome outcome;
  outcome.ok = true;
  outcome.library = std::move(build.library);
  outcome.record = std::move(build.record);
  outcome.diagnostics = std::move(build.diagnostics);
  return outcome;
}

Status Build::lay_sources() const {
  for (const auto& [name, text] : request_.files) {
    KP_TRY(place_.lay_source(name, text));
  }
  return place_.lay_source(source_name, request_.source);
}

// Paths of the moment: they are neither recorded nor part of the key, and the map keeps them out of
// the binary.
Words Build::folder_flags() const {
  return {"-ffile-prefix-map=" + place_.root().string() + "=.", "-I../abi", "-I."};
}

Result<Finished> Build::call(const Words& words, std::int64_t file_bytes) const {
  const std::int64_t used_ms = (now_ns() - start_ns_) / 1'000'000;
  JailedRun what;
  what.program = words;
  what.file_bytes = file_bytes;
  what.timeout_ms = std::max<std::int64_t>(1, setting_.settings.build_timeout_ms - used_ms);
  return place_.run(setting_.settings.jail, setting_.settings.landlock, what, stop_);
}

Result<Finished> Build::preprocess() const {
  Words words = {setting_.compiler.path};
  append(words, setting_.flags.compile);
  append(words, folder_flags());
  append(words, {"-E", source_name, "-o", std::string("../out/") + preprocessed_name});
  return call(words, largest_preprocessed);
}

Result<Finished> Build::compile() const {
  Words words = {setting_.compiler.path};
  append(words, setting_.flags.compile);
  append(words, folder_flags());
  append(words, {source_name, "-o", std::string("../out/") + library_name});
  append(words, setting_.flags.link);
  return call(words, largest_library);
}

// The source stands beside its preprocessed text, because a hostile source may look different to
// the second of two runs (__has_include of something that comes and goes) and must not be able to
// leave its binary under the key of another. Files laid beside it may be read by .incbin.
std::string Build::key(const std::string& preprocessed) const {
  std::string parts;
  const auto add = [&parts](std::string_view part) {
    parts += std::to_string(part.size()) + ":";
    parts += part;
  };
  add(place_.without_own_path(preprocessed));
  add(request_.source);
  for (const auto& [name, text] : request_.files) {
    add(name);
    add(text);
  }
  add(compiler_stamp(setting_.compiler));
  add(setting_.processor.architecture);
  add(setting_.processor.identity);
  for (const Words* words : {&setting_.flags.compile, &setting_.flags.link}) {
    add(std::to_string(words->size()));
    for (const std::string& word : *words) {
      add(word);
    }
  }
  return sha256(parts);
}

Result<BuildOutcome> Build::failed(const Finished& finished) const {
  std::error_code failure;
  const fs::space_info space = fs::space(place_.root(), failure);
  if (!failure && space.available < nearly_full &&
      finished.errors.find("No space left on device") != std::string::npos) {
    return make_error(ErrorKind::io,
                      "the compiler ran out of space in the temporary folder; free some there, or "
                      "set TMPDIR to another folder",
                      place_.root().parent_path().string());
  }
  BuildOutcome outcome;
  outcome.timed_out = finished.timed_out;
  outcome.wall_ns = now_ns() - start_ns_;
  if (shows_private_file(finished.errors, place_.source_folder(), place_.root())) {
    outcome.rule = "private_file";
  }
  std::string text = place_.without_own_path(finished.errors);
  if (finished.timed_out) {
    text += fmt::format("the build was stopped after {} ms\n", setting_.settings.build_timeout_ms);
  } else if (finished.signal != 0) {
    text += fmt::format("the compiler was ended by signal {} ({})\n", finished.signal,
                        strsignal(finished.signal));
  }
  outcome.diagnostics = cap_text(std::move(text));
  return outcome;
}

Result<BuildOutcome> Build::keep(const std::string& key, const Finished& compiled) const {
  const Result<std::string> binary = place_.read_output(library_name);
  if (!binary) {
    return binary.error();
  }
  BuildRecord record;
  record.compiler = setting_.compiler.path;
  record.compiler_identity = setting_.compiler.identity;
  append(record.flags, setting_.flags.compile);
  append(record.flags, setting_.flags.link);
  record.source_hash = sha256(request_.source);
  record.binary_hash = sha256(*binary);
  const std::string diagnostics = cap_text(place_.without_own_path(compiled.errors));
  Result<CachedBuild> stored = setting_.cache.store(key, *binary, record, diagnostics);
  if (!stored) {
    return stored.error();
  }
  BuildOutcome outcome = outcome_of(std::move(*stored));
  outcome.wall_ns = now_ns() - start_ns_;
  return outcome;
}

Result<BuildOutcome> Build::run() {
  KP_TRY(lay_sources());
  const Result<Finished> preprocessed = preprocess();
  if (!preprocessed) {
    return preprocessed.error();
  }
  if (!preprocessed->succeeded()) {
    return failed(*preprocessed);
  }
  const Result<std::string> text = place_.read_output(preprocessed_name);
  if (!text) {
    return text.error();
  }
  const std::string entry = key(*text);
  if (std::optional<CachedBuild> found = setting_.cache.find(entry)) {
    BuildOutcome outcome = outcome_of(std::move(*found));
    outcome.cached = true;
    return outcome;
  }
  const Result<Finished> compiled = compile();
  if (!compiled) {
    return compiled.error();
  }
  return compiled->succeeded() ? keep(entry, *compiled) : failed(*compiled);
}

}  // namespace

Result<BuildFlags> build_flags(const BuildRequest& request, const Compiler& compiler) {
  BuildFlags flags;
  if (!any_starts_with(request.options, "-std=")) {
    flags.compile.emplace_back("-std=c++20");
  }
  if (!any_starts_with(request.options, "-O")) {
    flags.compile.emplace_back("-O2");
  }
  for (const std::string& option : request.options) {
    if (option == "target") {
      append(flags.compile, compiler.target_flags);
    } else if (option == "openmp") {
      if (compiler.openmp_flags.empty()) {
        return make_error(ErrorKind::environment,
                          "no OpenMP program could be built and run with this compiler; install "
                          "its OpenMP library (libgomp1 for g++, libomp-19-dev for clang++-19)",
                          compiler.name);
      }
      append(flags.compile, compiler.openmp_flags);
    } else {
      flags.compile.push_back(option);
    }
  }
  // g++ ignores pragmas it does not know, such as `omp tile`, without a word.
  append(flags.compile, {"-shared", "-fPIC", "-fvisibility=hidden", "-Werror=unknown-pragmas",
                         "-frandom-seed=kernelpro"});
  // Undefined symbols fail here, with the compiler's text, and not when the candidate is loaded.
  flags.link = {"-Wl,-z,now", "-Wl,-z,defs"};
  for (const std::string& library : request.libraries) {
    flags.link.push_back("-l" + library);
  }
  return flags;
}

Status check_names(const BuildRequest& request) {
  for (const auto& [name, text] : request.files) {
    if (!is_plain_file_name(name)) {
      return make_error(ErrorKind::bad_input,
                        fmt::format("file name \"{}\" is refused: expected a plain name without a "
                                    "folder, a leading dot or dash, and not {}",
                                    name, source_name));
    }
  }
  for (const std::string& library : request.libraries) {
    if (!is_library_name(library)) {
      return make_error(ErrorKind::bad_input,
                        fmt::format("library name \"{}\" is refused: expected a name of a-z, 0-9 "
                                    "and _ such as openblas",
                                    library));
    }
  }
  return {};
}

Result<BuildOutcome> build_in_jail(const BuildSetting& setting, const BuildRequest& request,
                                   std::stop_token stop) {
  const Result<Workplace> place = Workplace::create(setting.settings.abi_include);
  if (!place) {
    return place.error();
  }
  return Build(setting, request, *place, std::move(stop)).run();
}

}  // namespace kernelpro
