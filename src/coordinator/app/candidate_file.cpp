#include "coordinator/app/candidate_file.hpp"

#include <filesystem>
#include <utility>

#include "common/base/file.hpp"
#include "coordinator/propose/source_header.hpp"
#include "coordinator/task/adapt.hpp"

namespace kernelpro {

Result<Candidate> load_candidate(const std::string& file, const Task& task, Backend backend,
                                 const BuildWishes& wishes) {
  Result<std::string> source = read_file(file);
  if (!source) {
    return make_error(ErrorKind::bad_input, source.error().message, source.error().context);
  }
  const SourceHeader header = read_source_header(*source);
  Candidate candidate;
  candidate.name = std::filesystem::path(file).stem().string();
  candidate.backend = backend;
  KP_LET(candidate.source, adapted(task, *source, candidate.backend));
  candidate.compiler = wishes.compiler.empty() ? header.compiler : wishes.compiler;
  if (candidate.compiler.empty()) {
    candidate.compiler = traits_of(backend).compiler;
  }
  candidate.options = wishes.options.empty() ? header.options : wishes.options;
  return candidate;
}

}  // namespace kernelpro
