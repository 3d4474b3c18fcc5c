#include "worker/profile/ncu_run.hpp"

#include <algorithm>
#include <future>
#include <utility>

#include "worker/profile/code_facts.hpp"
#include "worker/profile/source_match.hpp"

namespace kernelpro {

namespace {

constexpr int most_attempts = 6;
constexpr std::size_t largest_page = std::size_t{1} << 29U;
constexpr std::size_t most_lines = 16;  // that a profile keeps

Result<std::string> page(const std::string& ncu, const ProfiledProgram& program,
                         const std::string& report, NcuPage which, std::stop_token stop) {
  ProfiledProgram reader = program;
  reader.arguments = ncu_page_command(ncu, report, which);
  reader.output_limit = largest_page;
  KP_LET(Finished finished, run_profiled(reader, {}, {}, stop));
  if (!finished.succeeded()) {
    return explain_ncu_failure(finished.output + finished.errors).error;
  }
  return std::move(finished.output);
}

// Lines where the binary has them, machine code alone otherwise.
Result<NcuSourceReport> source_page(const std::string& ncu, const ProfiledProgram& program,
                                    const std::string& report, std::stop_token stop) {
  for (const NcuPage which : {NcuPage::source, NcuPage::source_without_lines}) {
    const Result<std::string> text = page(ncu, program, report, which, stop);
    Result<NcuSourceReport> read = text ? read_ncu_source(*text) : text.error();
    const bool whole =
        read && !read->kernels.empty() &&
        std::none_of(read->kernels.begin(), read->kernels.end(),
                     [](const SourceKernel& kernel) { return kernel.instructions.empty(); });
    if (whole || which == NcuPage::source_without_lines) {
      return read;
    }
  }
  return make_error(ErrorKind::internal, "no page was asked for");
}

void match_blocks(NcuPages& pages) {
  std::vector<std::string> names;
  names.reserve(pages.raw.launches.size());
  for (const NcuLaunch& launch : pages.raw.launches) {
    names.push_back(launch.name);
  }
  Result<std::vector<std::size_t>> matched = match_source(pages.source, names);
  if (matched) {
    pages.block_of = std::move(*matched);
  } else {
    pages.source_problem = matched.error().text();
  }
}

}  // namespace

Result<std::optional<NcuFailure>> run_ncu(const std::string& ncu, const ProfiledProgram& program,
                                          NcuWish wish, const std::vector<std::string>& keys,
                                          const std::string& architecture,
                                          std::set<std::string>& refused, std::stop_token stop) {
  std::optional<NcuFailure> failure;
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    wish.metrics = ncu_names(keys, architecture, refused);
    // A report of an earlier run would be taken for this one's.
    const std::filesystem::path report = wish.report + ".ncu-rep";
    std::error_code none;
    std::filesystem::remove(report, none);
    KP_LET(const Finished finished,
           run_profiled(program, ncu_profile_command(ncu, wish), {}, stop));
    const std::string said = finished.output + "\n" + finished.errors;
    failure = explain_ncu_failure(said);
    // Denied counters leave a report with none in it.
    if (std::filesystem::exists(report, none) && !finished.timed_out &&
        failure->kind != NcuFailureKind::counters_denied) {
      return std::optional<NcuFailure>();
    }
    if (finished.timed_out) {
      failure->kind = NcuFailureKind::timed_out;
      failure->error = make_error(ErrorKind::timeout,
                                  "ncu did not end in time: give more with --timeout", "profiling");
    }
    const std::size_t known = refused.size();
    refused.insert(failure->metrics.begin(), failure->metrics.end());
    if (failure->kind != NcuFailureKind::unknown_metric || refused.size() == known) {
      break;
    }
  }
  return failure;
}

Result<NcuPages> read_ncu_pages(const std::string& ncu, const ProfiledProgram& program,
                                const NcuWish& wish, std::stop_token stop) {
  const std::string report = wish.report + ".ncu-rep";
  NcuPages pages;
  // The two take about a second each, most of it ncu's start.
  std::future<Result<NcuSourceReport>> source;
  if (wish.source) {
    source =
        std::async(std::launch::async, [&] { return source_page(ncu, program, report, stop); });
  }
  const Result<std::string> raw = page(ncu, program, report, NcuPage::raw, stop);
  if (source.valid()) {
    Result<NcuSourceReport> read = source.get();
    if (read) {
      pages.source = std::move(*read);
    } else {
      pages.source_problem = read.error().text();
    }
  }
  if (!raw) {
    return raw.error();
  }
  KP_LET(pages.raw, read_ncu_raw(*raw));
  if (wish.rules) {
    const Result<std::string> details = page(ncu, program, report, NcuPage::details, stop);
    if (details) {
      Result<NcuRules> rules = read_ncu_rules(*details);
      pages.rules = rules ? std::move(*rules) : NcuRules();
    }
  }
  if (pages.source_problem.empty() && wish.source) {
    match_blocks(pages);
  }
  return pages;
}

void add_ncu(const NcuPages& pages, std::size_t launch, const std::vector<std::string>& keys,
             KernelProfile& kernel) {
  const NcuLaunch& one = pages.raw.launches[launch];
  NcuFigures read = figures_from(pages.raw, one, keys);
  kernel.figures = std::move(read.figures);
  kernel.missing = std::move(read.missing);
  kernel.stalls = stalls_from(pages.raw, one);
  if (launch < pages.block_of.size()) {
    const SourceKernel& source = pages.source.kernels[pages.block_of[launch]];
    kernel.code = code_facts(source.instructions);
    kernel.lines = source.lines;
    kernel.lines.resize(std::min(kernel.lines.size(), most_lines));
  } else if (!pages.source_problem.empty()) {
    kernel.missing["code"] = pages.source_problem;
  }
  const auto notes = pages.rules.notes.find(one.id);
  if (notes != pages.rules.notes.end()) {
    kernel.rules = notes->second;
  }
}

std::map<std::string, double> limits_from(const NcuRawReport& report, const NcuLaunch& launch) {
  constexpr std::pair<const char*, const char*> names[] = {
      {"multiprocessors", "device__attribute_multiprocessor_count"},
      {"threads", "device__attribute_max_threads_per_multiprocessor"},
      {"blocks", "device__attribute_max_blocks_per_multiprocessor"},
      {"registers", "device__attribute_max_registers_per_multiprocessor"},
      {"shared_bytes", "device__attribute_max_shared_memory_per_multiprocessor"},
      {"block_shared_bytes", "device__attribute_max_shared_memory_per_block_optin"},
      {"reserved_shared_bytes", "device__attribute_reserved_shared_memory_per_block"},
      {"l2_bytes", "device__attribute_l2_cache_size"},
  };
  constexpr double warp = 32;
  std::map<std::string, double> out;
  for (const auto& [ours, theirs] : names) {
    if (const NcuValue value = report.value(launch, theirs); value.number) {
      out[ours] = *value.number;
    }
  }
  if (out.contains("threads")) {
    out["warps"] = out["threads"] / warp;
  }
  return out;
}

}  // namespace kernelpro
