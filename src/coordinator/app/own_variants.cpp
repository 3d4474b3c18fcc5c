#include "coordinator/app/own_variants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <utility>

#include "common/base/file.hpp"
#include "coordinator/app/evaluate.hpp"
#include "coordinator/app/own_source.hpp"
#include "coordinator/task/caller_program.hpp"

namespace kernelpro {

namespace fs = std::filesystem;

std::string options_text(std::vector<std::string> options) {
  for (std::string& option : options) {
    if (option == "target") {
      const auto target = target_flag_choices().front();
      option = target.empty() ? "-march=native" : target.front();
    } else if (option == "openmp") {
      option = "-fopenmp";
    }
  }
  return fmt::format("{}", fmt::join(options, " "));
}

std::string flags_text(const std::string& compiler, const std::vector<std::string>& options) {
  return fmt::format("{} {}", compiler.empty() ? "g++" : compiler, options_text(options));
}

std::string plain_code(const std::string& code, const std::vector<std::string>& options) {
  return std::ranges::find(options, "openmp") != options.end() ? code : without_openmp(code);
}

std::vector<PatchVariant> variants(const std::string& original, const std::string& changed,
                                   const Node& node, const Node& root, Backend backend,
                                   const std::string& function,
                                   const std::vector<std::string>& options, bool fast_math) {
  std::vector<PatchVariant> out;
  const auto add = [&](const std::string& text, const Node& whose) {
    if (text != original && std::ranges::find(out, text, &PatchVariant::source) == out.end()) {
      out.push_back({text, &whose});
    }
  };
  if (backend != Backend::cpu) {
    add(changed, node);
    return out;
  }
  const std::string plain = plain_code(changed, options);
  std::vector<std::string> wanted = node.options;
  wanted.insert(wanted.end(), {"-O3"});
  if (fast_math) {
    wanted.emplace_back("-ffast-math");
  }
  const std::vector<std::string> carried = carried_flags(wanted, options);
  if (!carried.empty()) {
    add(with_flags(plain, function, carried), plain != original ? node : root);
    add(with_flags(original, function, carried), root);
  }
  add(plain, node);
  return out;
}

Result<std::vector<JudgedVariant>> judge_variants(const std::vector<PatchVariant>& sources,
                                                  const Run& run,
                                                  const ImplementationSpec& baseline,
                                                  const Watcher& watcher, std::stop_token stop) {
  if (sources.empty()) {
    return std::vector<JudgedVariant>();
  }
  KP_LET(const ScratchDir scratch, ScratchDir::create("patch"));
  EvaluationRequest request;
  request.task = run.task_path;
  request.judging = run.settings.judging;
  request.build = {baseline.compiler, baseline.options};
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const fs::path file =
        scratch.path() / fmt::format("patched_{}{}", i + 1, traits_of(baseline.backend).extension);
    KP_TRY(write_file_unsynced(file, sources[i].source));
    request.sources.push_back(file.string());
  }
  KP_LET(const EvaluationResult result, evaluate(request, watcher, std::move(stop)));
  std::vector<JudgedVariant> passed;
  for (std::size_t i = 0; i < result.evaluations.size(); ++i) {
    const Verdict& verdict = result.evaluations[i].certificate.verdict;
    if (verdict.outcome == Outcome::passed) {
      passed.push_back({sources[i], verdict.timing.speedup,
                        !verdict.suspect && verdict.timing.comparison == Comparison::faster});
    }
  }
  std::ranges::sort(passed, std::ranges::greater(), &JudgedVariant::speedup);
  return passed;
}

}  // namespace kernelpro
