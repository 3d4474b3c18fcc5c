#include "worker/profile/ncu_messages.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <initializer_list>

#include "worker/profile/ncu_output.hpp"

namespace kernelpro {
namespace {

using std::string_view;

constexpr std::size_t shown_lines = 5;

bool has(string_view text, string_view words) {
  return std::search(text.begin(), text.end(), words.begin(), words.end(), [](char a, char b) {
           const auto lower = [](char c) {
             return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
           };
           return lower(a) == lower(b);
         }) != text.end();
}

// The first of the complaints that has one of these words; empty: none has.
string_view complaint_with(const std::vector<std::string>& complaints,
                           std::initializer_list<string_view> words) {
  for (const std::string& complaint : complaints) {
    if (std::any_of(words.begin(), words.end(),
                    [&](string_view word) { return has(complaint, word); })) {
      return complaint;
    }
  }
  return {};
}

// "regex:^NAME\.(sum|min|max|avg|pct|ratio|max_rate)$", for a NAME asked for without a suffix.
std::string metric_in(string_view text) {
  constexpr string_view regex = "regex:";
  if (text.starts_with(regex)) {
    text.remove_prefix(regex.size());
    text.remove_prefix(text.starts_with('^') ? 1 : 0);
    text = text.substr(0, text.find(R"(\.()"));
    text.remove_suffix(text.ends_with('$') ? 1 : 0);
  }
  std::string name(text.substr(0, text.find_first_of(" \t\"'")));
  std::erase(name, '\\');
  while (name.ends_with('.') || name.ends_with(',')) {
    name.pop_back();
  }
  return name;
}

void add_names(std::vector<std::string>& names, string_view list) {
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    string_view item = list.substr(0, comma);
    list.remove_prefix(comma == string_view::npos ? list.size() : comma + 1);
    item.remove_prefix(std::min(item.find_first_not_of(" \"'"), item.size()));
    const std::string name = metric_in(item);
    if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(name);
    }
  }
}

// What stands behind `words` in a complaint that has them.
string_view behind(string_view complaint, string_view words) {
  const std::size_t at = complaint.find(words);
  return at == string_view::npos ? string_view() : complaint.substr(at + words.size());
}

NcuFailure failure(NcuFailureKind kind, ErrorKind error, std::string message) {
  return {.kind = kind, .error = make_error(error, std::move(message), "ncu"), .metrics = {}};
}

NcuFailure denied() {
  return failure(
      NcuFailureKind::counters_denied, ErrorKind::environment,
      "this user may not read the GPU's counters (ERR_NVGPUCTRPERM). Run as root or with "
      "CAP_SYS_ADMIN (in a container: --cap-add=SYS_ADMIN), or let an administrator load the "
      "nvidia module with NVreg_RestrictProfilingToAdminUsers=0");
}

NcuFailure unknown(std::vector<std::string> metrics) {
  NcuFailure out = failure(
      NcuFailureKind::unknown_metric, ErrorKind::environment,
      fmt::format("ncu does not have {} on this GPU; `ncu --query-metrics` lists what it has",
                  fmt::join(metrics, ", ")));
  out.metrics = std::move(metrics);
  return out;
}

// By what ncu calls an error. Nothing it calls so is known: NcuFailureKind::other.
NcuFailure by_errors(const std::vector<std::string>& errors) {
  if (!complaint_with(errors, {"driver resource was unavailable", "ResourceUnavailable",
                               "another profiler", "already being profiled"})
           .empty()) {
    return failure(NcuFailureKind::counters_busy, ErrorKind::busy,
                   "the GPU's counters are held by another tool; end other profilers, or pause "
                   "DCGM's profiling (dcgmi profile --pause), and try again");
  }
  const string_view misfit = complaint_with(
      errors, {"not compatible with Nsight Compute", "not supported on this device",
               "unsupported GPU", "unsupported device", "unknown chip", "no supported GPU"});
  if (!misfit.empty()) {
    return failure(NcuFailureKind::unsupported_gpu, ErrorKind::environment,
                   fmt::format("ncu does not fit this GPU or its driver (\"{}\"); install the "
                               "Nsight Compute of a CUDA toolkit that knows both, or name one in "
                               "KERNELPRO_NCU",
                               misfit));
  }
  if (!complaint_with(errors, {"nsight-compute-lock", "InterprocessLockFailed"}).empty()) {
    return failure(NcuFailureKind::locked, ErrorKind::busy,
                   "ncu's lock file nsight-compute-lock in the temporary folder belongs to another "
                   "user; remove it, or set TMPDIR to a folder of your own");
  }
  if (!complaint_with(errors, {"timed out", "timeout"}).empty()) {
    return failure(NcuFailureKind::timed_out, ErrorKind::timeout,
                   "ncu waited too long for the program; profile fewer launches or a smaller "
                   "problem");
  }
  const string_view failed = complaint_with(
      errors, {"application returned an error", "application crashed", "terminated by signal",
               "application failed", "target application terminated"});
  if (!failed.empty()) {
    return failure(NcuFailureKind::program_failed, ErrorKind::lost,
                   fmt::format("the program failed while it was profiled (\"{}\"); see that it "
                               "runs to its end without ncu",
                               failed));
  }
  return {};
}

std::string last_lines(const std::vector<std::string>& lines) {
  const std::size_t skipped = lines.size() - std::min(lines.size(), shown_lines);
  return fmt::format(
      "{}", fmt::join(lines.begin() + static_cast<std::ptrdiff_t>(skipped), lines.end(), "; "));
}

}  // namespace

std::vector<std::string> refused_metrics(string_view output) {
  const NcuComplaints complaints = ncu_complaints(output);
  std::vector<std::string> names;
  for (const std::string& error : complaints.errors) {
    add_names(names, behind(error, "Failed to find metric "));
  }
  for (const std::string& warning : complaints.warnings) {
    const string_view list = behind(warning, "Unable to access the following ");
    add_names(names, behind(list, "metrics: "));
    add_names(names, behind(list, "metric: "));
  }
  return names;
}

NcuFailure explain_ncu_failure(string_view output) {
  const NcuComplaints complaints = ncu_complaints(output);
  // Denied counters may come as a warning, with an empty report.
  for (const auto* lines : {&complaints.errors, &complaints.warnings}) {
    if (!complaint_with(*lines, {"ERR_NVGPUCTRPERM"}).empty()) {
      return denied();
    }
  }
  // Before the program's own failure: ncu ends the program when it does not know a metric.
  if (!complaint_with(complaints.errors, {"Failed to find metric"}).empty()) {
    if (std::vector<std::string> metrics = refused_metrics(output); !metrics.empty()) {
      return unknown(std::move(metrics));
    }
  }
  NcuFailure found = by_errors(complaints.errors);
  if (found.kind != NcuFailureKind::other) {
    return found;
  }
  if (complaints.errors.empty() &&
      (!complaint_with(complaints.warnings, {"No kernels were profiled"}).empty() ||
       has(output, "terminated before first instrumented API call"))) {
    return failure(NcuFailureKind::no_kernels, ErrorKind::bad_input,
                   "no kernel was profiled: the program launched none, or none of those that were "
                   "asked for");
  }
  if (!complaints.errors.empty()) {
    return failure(NcuFailureKind::other, ErrorKind::environment, last_lines(complaints.errors));
  }
  if (!complaints.warnings.empty()) {
    return failure(NcuFailureKind::other, ErrorKind::environment,
                   "its output holds no table. It warns: " + last_lines(complaints.warnings));
  }
  // Not ncu's words: those of a shell or a jail that could not start it.
  constexpr std::size_t shown = 400;
  const std::size_t from = output.size() > shown ? output.size() - shown : 0;
  return failure(NcuFailureKind::other, ErrorKind::environment,
                 fmt::format("its output holds no table and no message of its own, only: \"{}\"",
                             output.substr(from)));
}

}  // namespace kernelpro
