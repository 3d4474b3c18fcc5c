#include "coordinator/propose/rewrite_memory.hpp"

#include <algorithm>
#include <utility>

#include "coordinator/rewrite/cuda_text.hpp"
#include "coordinator/rewrite/reached.hpp"

namespace kernelpro {

std::shared_ptr<RewriteMemory::Known> RewriteMemory::known(const std::string& source) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(known_, source, [](const auto& one) { return one->source; });
  if (found != known_.end()) {
    known_.splice(known_.begin(), known_, found);
  } else {
    known_.push_front(std::make_shared<Known>(source));
  }
  if (known_.size() > capacity_) {
    known_.pop_back();
  }
  return known_.front();
}

void RewriteMemory::parse(Known& one, const std::stop_token& stop) {
  if (one.program) {
    return;
  }
  ParseSettings settings = settings_;
  settings.standing = &clangs_;
  {
    const std::lock_guard lock(headers_mutex_);
    settings.prepared_headers = headers_.of(one.source, settings_, stop);
  }
  one.program = parse_program(one.source, settings, stop);
  if (*one.program) {
    **one.program = only_reached(std::move(**one.program));
  }
}

Error RewriteMemory::failure_of(const Known& one) {
  Error error = one.program->error();
  if (error.kind != ErrorKind::bad_input) {
    const std::lock_guard lock(mutex_);
    known_.remove_if([&one](const auto& other) { return other.get() == &one; });
  }
  return error;
}

void RewriteMemory::parse(const std::string& source, const std::stop_token& stop) {
  const std::shared_ptr<Known> one = known(source);
  const std::lock_guard lock(one->mutex);
  parse(*one, stop);
  if (!*one->program) {
    static_cast<void>(failure_of(*one));
  }
}

Result<std::vector<Rewritten>> RewriteMemory::rewritten(
    const std::string& rewriter, const std::string& source,
    const std::map<std::string, std::string>& arguments, const std::stop_token& stop) {
  if (is_cuda_rewriter(rewriter)) {
    return rewrite_cuda(rewriter, source, arguments);
  }
  const std::shared_ptr<Known> one = known(source);
  const std::lock_guard lock(one->mutex);
  parse(*one, stop);
  if (!*one->program) {
    return failure_of(*one);
  }
  std::string key = rewriter;
  for (const auto& [name, value] : arguments) {
    key += " " + name + "=" + value;
  }
  auto result = one->results.find(key);
  if (result == one->results.end()) {
    result = one->results.emplace(key, rewrite(rewriter, **one->program, arguments)).first;
  }
  return result->second;
}

}  // namespace kernelpro
