#include "worker/toolchain/build.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "common/base/clock.hpp"
#include "common/base/file.hpp"
#include "common/base/hash.hpp"
#include "worker/toolchain/cuda.hpp"
#include "worker/toolchain/diagnostics.hpp"
#include "worker/toolchain/probe.hpp"
#include "worker/toolchain/ptxas.hpp"
#include "worker/toolchain/workplace.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;

constexpr const char* preprocessed_name = "candidate.ii";
// nvcc writes the paths of sources into device code, and it makes them absolute with its folder of
// the moment. By this name for that folder they are the same in every build.
constexpr std::string_view fixed_folder = "/proc/self/cwd/";
constexpr const char* rule_name = "headers.d";
constexpr std::int64_t largest_rule = 16LL << 20;
constexpr std::int64_t largest_preprocessed = 64LL << 20;
// What a compiler may write on the way: assembler text is larger than what becomes of it.
constexpr std::int64_t largest_intermediate = 256LL << 20;
// What may come of it; the largest honest kernels, with CUTLASS inside, have a few megabytes.
constexpr std::uintmax_t largest_library = 64U << 20;
constexpr std::uintmax_t nearly_full = 16U << 20;
// A folder that one build has filled so far is not to blame for a full disk.
constexpr std::uintmax_t fills_the_disk = 128U << 20;

void erase_all(std::string& text, std::string_view part) {
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at)) {
    text.erase(at, part.size());
  }
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
        start_ns_(now_ns()),
        cuda_(is_cuda(setting.compiler)),
        source_name_(cuda_ ? cuda_source_name : cpp_source_name),
        result_extension_(request.cubin ? ".cubin" : ".so") {}

  Result<BuildOutcome> run();

 private:
  [[nodiscard]] Status lay_sources() const;
  [[nodiscard]] Result<Finished> call(const Words& words, std::int64_t file_bytes,
                                      const fs::path& also = {}) const;
  [[nodiscard]] Result<Finished> find_headers();
  [[nodiscard]] Result<Finished> preprocess() const;
  [[nodiscard]] Result<BuildOutcome> find_or_compile(const std::string& beside_source) const;
  [[nodiscard]] Result<Finished> compile() const;
  [[nodiscard]] std::string key(const std::string& beside_source) const;
  [[nodiscard]] Result<std::string> cuda_headers() const;
  [[nodiscard]] Result<BuildOutcome> failed(const Finished& finished) const;
  [[nodiscard]] BuildOutcome too_large(std::uintmax_t bytes) const;
  [[nodiscard]] Result<BuildOutcome> keep(const std::string& key, const Finished& compiled) const;
  [[nodiscard]] Words folder_flags() const;
  [[nodiscard]] Words header_flags(const std::string& folder) const;
  [[nodiscard]] Result<BuildOutcome> build();
  [[nodiscard]] std::string result_name() const { return "candidate" + result_extension_; }

  const BuildSetting& setting_;
  const BuildRequest& request_;
  const Workplace& place_;
  std::stop_token stop_;
  std::int64_t start_ns_;
  bool cuda_;
  std::string source_name_;
  std::string result_extension_;
  std::vector<IncludedLibrary> included_;
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
  return place_.lay_source(source_name_, request_.source);
}

// Paths of the moment: they are neither recorded nor part of the key, and the map keeps them out of
// the binary.
Words Build::folder_flags() const {
  if (cuda_) {
    const std::string folder(fixed_folder);
    return {"-I" + folder + "../abi", "-I" + folder + "."};
  }
  return {"-ffile-prefix-map=" + place_.root().string() + "=.", "-I../abi", "-I."};
}

// For the libraries below `folder`; what they include of each other is found too.
Words Build::header_flags(const std::string& folder) const {
  Words words;
  for (const IncludedLibrary& library : included_) {
    append(words, {"-isystem", folder + "/" + library.name});
  }
  return words;
}

Result<Finished> Build::call(const Words& words, std::int64_t file_bytes,
                             const fs::path& also) const {
  JailedRun what;
  what.program = words;
  what.file_bytes = file_bytes;
  what.read = setting_.flags.read;
  if (!also.empty()) {
    what.read.push_back(also.string());
  }
  what.cpu_ms = setting_.settings.build_timeout_ms;
  return place_.run(setting_.settings.jail, setting_.settings.landlock, what, stop_);
}

// Asks the compiler which headers of the libraries the source includes, and lays these out: nvcc
// looks at the source as for the device and as for the host.
Result<Finished> Build::find_headers() {
  const HeaderTree& tree = *setting_.headers;
  for (const HeaderLibrary& library : tree.libraries()) {
    included_.push_back({library.name, {}, {}, {}});
  }
  Words words = {setting_.compiler.path};
  append(words, setting_.flags.compile);
  append(words, folder_flags());
  append(words, header_flags(tree.root().string()));
  append(words, {"-M", source_name_, "-MF", std::string("../out/") + rule_name});
  Result<Finished> asked = call(words, largest_rule, tree.root());
  included_.clear();
  if (!asked || !asked->succeeded()) {
    return asked;
  }
  KP_LET(const std::string rule, place_.read_output(rule_name));
  included_ = tree.named_in(rule);
  for (const IncludedLibrary& library : included_) {
    for (const auto& [path, hash] : library.files) {
      KP_TRY(
          place_.lay_header(library.name + "/" + path, tree.library(library.name).files.at(path)));
    }
  }
  return asked;
}

Result<Finished> Build::preprocess() const {
  Words words = {setting_.compiler.path};
  append(words, setting_.flags.compile);
  append(words, folder_flags());
  append(words, header_flags("../inc"));
  append(words, {"-E", source_name_, "-o", std::string("../out/") + preprocessed_name});
  return call(words, largest_preprocessed);
}

Result<Finished> Build::compile() const {
  Words words = {setting_.compiler.path};
  append(words, setting_.flags.compile);
  append(words, folder_flags());
  append(words, header_flags((cuda_ ? std::string(fixed_folder) : "") + "../inc"));
  append(words, {cuda_ ? std::string(fixed_folder) + source_name_ : source_name_, "-o",
                 "../out/" + result_name()});
  append(words, setting_.flags.link);
  return call(words, largest_intermediate);
}

// For nvcc in the place of a preprocessed text, which would cost half a second, a third of a small
// build: nvcc runs the host compiler over thousands of lines of its own for it. The headers that
// the source can reach are these, those of libraries, which the key has too, and those that belong
// to nvcc and its host compiler, whose stamps are in the key; one changed by hand there goes
// unnoticed.
Result<std::string> Build::cuda_headers() const {
  std::string parts;
  std::error_code failure;
  std::set<fs::path> headers;
  for (const fs::directory_entry& entry :
       fs::recursive_directory_iterator(place_.root() / "abi", failure)) {
    if (entry.is_regular_file()) {
      headers.insert(entry.path());
    }
  }
  for (const fs::path& header : headers) {
    KP_LET(const std::string text, read_file(header));
    parts += "\n" + header.lexically_relative(place_.root()).string() + "\n" + sha256(text);
  }
  return parts;
}

// The source stands beside its preprocessed text, because a hostile source may look different to
// the second of two runs (__has_include of something that comes and goes) and must not be able to
// leave its binary under the key of another. Files laid beside it may be read by .incbin.
std::string Build::key(const std::string& beside_source) const {
  std::string parts;
  const auto add = [&parts](std::string_view part) {
    parts += std::to_string(part.size()) + ":";
    parts += part;
  };
  add(place_.without_own_path(beside_source));
  add(request_.source);
  for (const auto& [name, text] : request_.files) {
    add(name);
    add(text);
  }
  for (const IncludedLibrary& library : included_) {
    add(library.name);
    add(library.hash);
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
  if (!failure && space.available < nearly_full && place_.output_bytes() < fills_the_disk &&
      finished.errors.find("No space left on device") != std::string::npos) {
    return make_error(ErrorKind::io,
                      "the compiler ran out of space in the temporary folder; free some there, or "
                      "set TMPDIR to another folder",
                      place_.root().parent_path().string());
  }
  BuildOutcome outcome;
  outcome.timed_out = finished.timed_out;
  outcome.wall_ns = now_ns() - start_ns_;
  std::string text = cuda_ ? read_ptxas(finished.errors).rest : finished.errors;
  if (cuda_) {
    erase_all(text, fixed_folder);
  }
  if (shows_private_file(text, place_.source_folder(), place_.root())) {
    outcome.rule = "private_file";
  }
  text = place_.without_own_path(std::move(text));
  if (setting_.headers != nullptr) {
    erase_all(text, setting_.headers->root().string() + "/");
    text += setting_.headers->notes_on(text);
  }
  if (finished.timed_out) {
    text += fmt::format("the build was stopped after {} ms of processor time\n",
                        setting_.settings.build_timeout_ms);
  } else if (finished.signal != 0) {
    text += fmt::format("the compiler was ended by signal {} ({})\n", finished.signal,
                        strsignal(finished.signal));
  }
  outcome.diagnostics = cap_text(std::move(text));
  return outcome;
}

BuildOutcome Build::too_large(std::uintmax_t bytes) const {
  BuildOutcome outcome;
  outcome.wall_ns = now_ns() - start_ns_;
  outcome.diagnostics = fmt::format("{} would have {} bytes; at most {} are accepted\n",
                                    result_name(), bytes, largest_library);
  return outcome;
}

Result<BuildOutcome> Build::keep(const std::string& key, const Finished& compiled) const {
  if (const std::uintmax_t bytes = place_.output_bytes(result_name()); bytes > largest_library) {
    return too_large(bytes);
  }
  KP_LET(const std::string binary, place_.read_output(result_name()));
  BuildRecord record;
  record.compiler = setting_.compiler.path;
  record.compiler_identity = setting_.compiler.identity;
  append(record.flags, setting_.flags.compile);
  append(record.flags, setting_.flags.link);
  record.source_hash = sha256(request_.source);
  record.binary_hash = sha256(binary);
  std::string said = compiled.errors;
  if (cuda_) {
    PtxasReport report = read_ptxas(compiled.errors);
    record.kernels = std::move(report.kernels);
    record.warnings = std::move(report.warnings);
    said = std::move(report.rest);
    erase_all(said, fixed_folder);
  }
  if (request_.remarks) {
    said = remark_lines(said);
  }
  const std::string diagnostics = cap_text(place_.without_own_path(std::move(said)));
  KP_LET(CachedBuild stored,
         setting_.cache.store(key + result_extension_, binary, record, diagnostics));
  BuildOutcome outcome = outcome_of(std::move(stored));
  outcome.wall_ns = now_ns() - start_ns_;
  return outcome;
}

Result<BuildOutcome> Build::find_or_compile(const std::string& beside_source) const {
  const std::string entry = key(beside_source);
  if (std::optional<CachedBuild> found = setting_.cache.find(entry + result_extension_)) {
    BuildOutcome outcome = outcome_of(std::move(*found));
    outcome.cached = true;
    return outcome;
  }
  KP_LET(const Finished compiled, compile());
  return compiled.succeeded() ? keep(entry, compiled) : failed(compiled);
}

Result<BuildOutcome> Build::run() {
  KP_TRY(lay_sources());
  if (setting_.headers != nullptr && setting_.headers->may_serve(request_)) {
    KP_LET(const Finished found, find_headers());
    if (!found.succeeded()) {
      return failed(found);
    }
  }
  KP_LET(BuildOutcome outcome, build());
  outcome.record.includes = std::move(included_);
  return outcome;
}

Result<BuildOutcome> Build::build() {
  if (cuda_) {
    const Result<std::string> headers = cuda_headers();
    return headers ? find_or_compile(*headers) : headers.error();
  }
  KP_LET(const Finished preprocessed, preprocess());
  if (!preprocessed.succeeded()) {
    return failed(preprocessed);
  }
  const Result<std::string> text = place_.read_output(preprocessed_name);
  return text ? find_or_compile(*text) : text.error();
}

}  // namespace

Result<BuildOutcome> build_in_jail(const BuildSetting& setting, const BuildRequest& request,
                                   std::stop_token stop) {
  KP_LET(const Workplace place, Workplace::create(setting.settings.abi_include));
  return Build(setting, request, place, std::move(stop)).run();
}

}  // namespace kernelpro
