// What most commands do: a use case is watched while it works, and its result printed.
#pragma once

#include "coordinator/cli/output.hpp"
#include "coordinator/terminal/live_view.hpp"

namespace kernelpro {

// What `work`, which is given the watcher of this terminal, returns.
template <typename Work>
[[nodiscard]] auto watched(const Options& options, const Work& work) {
  LiveView view(options.quiet);
  auto done = work(view.watcher());
  view.clear();
  return done;
}

// The value as JSON or, by `print`, as text; or the error. Returns the exit code, with a value what
// `exit_code` says of it. Whoever calls it includes <nlohmann/json.hpp>.
template <typename Value, typename Print, typename ExitCode>
[[nodiscard]] int print_result(const Options& options, const Result<Value>& done,
                               const Print& print, const ExitCode& exit_code) {
  if (!done) {
    return report_error(options, done.error());
  }
  if (options.json) {
    print_json(to_json(*done));
  } else {
    print(*done);
  }
  return exit_code(*done);
}

template <typename Value, typename Print>
[[nodiscard]] int print_result(const Options& options, const Result<Value>& done,
                               const Print& print) {
  return print_result(options, done, print, [](const Value&) { return exit_done; });
}

}  // namespace kernelpro
