#include "coordinator/propose/rewrite_memory.hpp"

#include <algorithm>
#include <utility>

#include "coordinator/rewrite/cuda_text.hpp"

namespace kernelpro {

RewriteMemory::Known& RewriteMemory::known(const std::string& source, const std::stop_token& stop) {
  const auto found = std::ranges::find(known_, source, &Known::source);
  if (found != known_.end()) {
    known_.splice(known_.begin(), known_, found);
    return known_.front();
  }
  settings_.prepared_headers = headers_.of(source, settings_, stop);
  known_.push_front({source, parse_program(source, settings_, stop), {}});
  if (known_.size() > capacity_) {
    known_.pop_back();
  }
  return known_.front();
}

// Forgets it when clang was stopped or is missing, which says nothing about the source.
Error RewriteMemory::failure_of(const Known& one) {
  Error error = one.program.error();
  if (error.kind != ErrorKind::bad_input) {
    known_.pop_front();
  }
  return error;
}

void RewriteMemory::parse(const std::string& source, const std::stop_token& stop) {
  const Known& one = known(source, stop);
  if (!one.program) {
    static_cast<void>(failure_of(one));
  }
}

Result<std::vector<Rewritten>> RewriteMemory::rewritten(
    const std::string& rewriter, const std::string& source,
    const std::map<std::string, std::string>& arguments, const std::stop_token& stop) {
  if (is_cuda_rewriter(rewriter)) {
    return rewrite_cuda(rewriter, source, arguments);
  }
  Known& one = known(source, stop);
  if (!one.program) {
    return failure_of(one);
  }
  std::string key = rewriter;
  for (const auto& [name, value] : arguments) {
    key += " " + name + "=" + value;
  }
  auto result = one.results.find(key);
  if (result == one.results.end()) {
    result = one.results.emplace(key, rewrite(rewriter, *one.program, arguments)).first;
  }
  return result->second;
}

}  // namespace kernelpro
