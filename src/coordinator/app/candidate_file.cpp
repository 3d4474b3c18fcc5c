#include "coordinator/app/candidate_file.hpp"

#include <filesystem>
#include <utility>

#include "common/base/file.hpp"
#include "coordinator/propose/source_header.hpp"
#include "coordinator/task/adapt.hpp"
#include "coordinator/task/create.hpp"
#include "coordinator/task/inline_includes.hpp"

namespace kernelpro {

namespace fs = std::filesystem;

Result<Candidate> load_candidate(const std::string& file, const Task& task, Backend backend,
                                 const BuildWishes& wishes) {
  // Headers of its own are put in their places; a build sees one file.
  std::error_code failed;
  Result<std::string> source =
      inline_beside(file, include_folders(wishes.options), fs::current_path(failed));
  if (!source) {
    return make_error(ErrorKind::bad_input, source.error().message, source.error().context);
  }
  return candidate_of_text(fs::path(file).stem().string(), *source, task, backend, wishes);
}

Result<Candidate> load_foreign(const std::string& file, const Task& task, Backend backend,
                               const BuildWishes& wishes) {
  KP_LET(const std::string source, read_file(file));
  return candidate_of_text(fs::path(file).stem().string(), source, task, backend, wishes);
}

Result<Candidate> candidate_of_text(const std::string& name, const std::string& source,
                                    const Task& task, Backend backend, const BuildWishes& wishes) {
  const SourceHeader header = read_source_header(source);
  Candidate candidate;
  candidate.name = name;
  candidate.backend = backend;
  KP_LET(candidate.source, adapted(task, source, candidate.backend));
  candidate.compiler = wishes.compiler.empty() ? header.compiler : wishes.compiler;
  if (candidate.compiler.empty()) {
    candidate.compiler = traits_of(backend).compiler;
  }
  candidate.options = wishes.options.empty() ? header.options : wishes.options;
  std::erase_if(candidate.options,
                [](const std::string& option) { return option.starts_with("-I"); });
  return candidate;
}

}  // namespace kernelpro
