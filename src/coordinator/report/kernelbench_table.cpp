#include "coordinator/report/kernelbench_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "common/model/statistics.hpp"

namespace kernelpro {
namespace {

using Records = std::vector<const SuiteRecord*>;

// Median time of a mode; nothing when it was not timed.
std::optional<double> time_of(const SuiteRecord& record, const std::string& mode) {
  const auto found = record.times.find(mode);
  return found == record.times.end() || found->second.empty()
             ? std::nullopt
             : std::optional(median(found->second));
}

bool is_passed(const SuiteRecord& record) {
  return record.candidate && record.candidate->outcome == Outcome::passed;
}

bool is_fit(const SuiteRecord& record) {
  return record.degenerate.empty() && record.refused.empty();
}

// The mode of PyTorch that computes as precisely as the candidate does.
std::string matching_mode(const SuiteRecord& record) {
  const bool contract = !record.candidate || record.candidate->precision == "contract";
  return contract ? fp32_mode : tf32_mode;
}

struct ColumnRule {
  const char* key;
  const char* title;
  bool (*takes)(const SuiteRecord&);
  std::string (*mode)(const SuiteRecord&);
};

const std::vector<ColumnRule>& column_rules() {
  static const std::vector<ColumnRule> rules = {
      {"as_is", "as is", [](const SuiteRecord&) { return true; },
       [](const SuiteRecord&) { return std::string(eager_mode); }},
      {"degenerate_removed", "degenerate removed", is_fit,
       [](const SuiteRecord&) { return std::string(eager_mode); }},
      {"precision_matched", "precision matched", is_fit, matching_mode},
      {"against_compile", "against torch.compile",
       [](const SuiteRecord& record) {
         return is_fit(record) && time_of(record, compile_mode).has_value();
       },
       [](const SuiteRecord&) { return std::string(compile_mode); }},
  };
  return rules;
}

double share_above(const std::vector<double>& speedups, double least, std::size_t of) {
  const auto count = std::ranges::count_if(speedups, [least](double s) { return s > least; });
  return of == 0 ? 0 : static_cast<double>(count) / static_cast<double>(of);
}

SuiteColumn make_column(const ColumnRule& rule, const Records& records, bool accept_suspect) {
  SuiteColumn column;
  column.key = rule.key;
  column.title = rule.title;
  std::vector<double> speedups;
  std::vector<double> shares;
  for (const SuiteRecord* record : records) {
    if (!rule.takes(*record)) {
      continue;
    }
    if (!counts_as_correct(*record, accept_suspect)) {
      ++column.problems;
      continue;
    }
    // Correct, but PyTorch's own time is missing: nothing can be said in this column.
    const std::optional<double> speedup = speedup_over(*record, rule.mode(*record));
    if (!speedup) {
      continue;
    }
    ++column.problems;
    speedups.push_back(*speedup);
    if (record->candidate->share_of_bound > 0) {
      shares.push_back(record->candidate->share_of_bound);
    }
  }
  column.correct = speedups.size();
  column.fast_0 = share_above(speedups, 0, column.problems);
  column.fast_1 = share_above(speedups, 1, column.problems);
  column.fast_1_5 = share_above(speedups, 1.5, column.problems);
  column.fast_2 = share_above(speedups, 2, column.problems);
  column.mean_of_correct = geometric_mean(speedups);
  column.share_of_bound = geometric_mean(shares);
  speedups.resize(column.problems, 1);
  column.mean_of_all = geometric_mean(speedups);
  return column;
}

SuiteBaselines make_baselines(const Records& records) {
  SuiteBaselines out;
  std::vector<double> tf32;
  std::vector<double> compiled;
  for (const SuiteRecord* record : records) {
    ++out.problems;
    out.degenerate += record->degenerate.empty() ? 0 : 1;
    out.refused += record->refused.empty() ? 0 : 1;
    out.failed += record->failed.empty() ? 0 : 1;
    const std::optional<double> fp32 = time_of(*record, fp32_mode);
    if (!fp32) {
      continue;
    }
    ++out.measured;
    if (const std::optional<double> time = time_of(*record, tf32_mode)) {
      tf32.push_back(*fp32 / *time);
    }
    if (const std::optional<double> time = time_of(*record, compile_mode)) {
      compiled.push_back(*fp32 / *time);
    }
  }
  out.tf32_gain = geometric_mean(tf32);
  out.compile_gain = geometric_mean(compiled);
  out.compiled = compiled.size();
  return out;
}

SuiteGroup make_group(std::optional<int> level, const std::vector<SuiteRecord>& all,
                      bool with_candidates, bool accept_suspect) {
  Records records;
  for (const SuiteRecord& record : all) {
    if (!level || record.problem.level == *level) {
      records.push_back(&record);
    }
  }
  SuiteGroup group{level, {}, make_baselines(records)};
  if (with_candidates) {
    for (const ColumnRule& rule : column_rules()) {
      group.columns.push_back(make_column(rule, records, accept_suspect));
    }
  }
  return group;
}

using Said = std::optional<std::string>;

// The problems of which `says` has something to say, those of one reason together.
template <typename Says>
void remark(std::vector<SuiteRemark>& out, const std::string& what,
            const std::vector<SuiteRecord>& records, Says says) {
  std::vector<SuiteRemark> found;
  for (const SuiteRecord& record : records) {
    const Said said = says(record);
    if (!said) {
      continue;
    }
    auto remark = std::ranges::find(found, *said, &SuiteRemark::reason);
    if (remark == found.end()) {
      remark = found.insert(remark, {what, *said, {}});
    }
    remark->problems.push_back(text_of(record.problem));
  }
  out.insert(out.end(), found.begin(), found.end());
}

void remark_candidates(std::vector<SuiteRemark>& out, const std::vector<SuiteRecord>& records,
                       bool accept_suspect) {
  const auto ended = [](Outcome outcome) {
    return [outcome](const SuiteRecord& r) {
      const bool so = r.candidate && r.candidate->outcome == outcome;
      return so ? Said(r.candidate->rule.empty() ? r.candidate->summary : r.candidate->rule)
                : std::nullopt;
    };
  };
  const auto passed_and = [](auto so) {
    return [so](const SuiteRecord& r) {
      return is_passed(r) && so(*r.candidate) ? Said("") : std::nullopt;
    };
  };
  remark(out, "no candidate", records,
         [](const SuiteRecord& r) { return r.candidate ? std::nullopt : Said(""); });
  for (const Outcome outcome :
       {Outcome::build_failed, Outcome::launch_failed, Outcome::crashed, Outcome::timed_out,
        Outcome::out_of_memory, Outcome::incorrect, Outcome::unstable, Outcome::cheated}) {
    remark(out, std::string(name_of(outcome)), records, ended(outcome));
  }
  remark(out, "not judged", records, ended(Outcome::not_judged));
  remark(out, accept_suspect ? "suspect" : "suspect, counted as failures", records,
         passed_and([](const SuiteCandidate& c) { return c.suspect; }));
  remark(out, "unverified (--sandbox none)", records,
         passed_and([](const SuiteCandidate& c) { return !c.verified; }));
  remark(out, "lower precision", records, [](const SuiteRecord& r) {
    return is_passed(r) && r.candidate->precision != "contract" ? Said(r.candidate->precision)
                                                                : std::nullopt;
  });
}

}  // namespace

bool counts_as_correct(const SuiteRecord& record, bool accept_suspect) {
  return is_passed(record) && record.candidate->time_ns > 0 && record.candidate->speedup > 0 &&
         (accept_suspect || !record.candidate->suspect);
}

std::optional<double> speedup_over(const SuiteRecord& record, const std::string& mode) {
  const std::optional<double> own = time_of(record, fp32_mode);
  const std::optional<double> other = time_of(record, mode);
  if (!own || !other || !record.candidate || !(record.candidate->speedup > 0)) {
    return std::nullopt;
  }
  return record.candidate->speedup * *other / *own;
}

SuiteSummary summarize_suite(const std::vector<SuiteRecord>& records, bool with_candidates,
                             bool accept_suspect) {
  SuiteSummary summary;
  summary.with_candidates = with_candidates;
  std::set<int> levels;
  for (const SuiteRecord& record : records) {
    levels.insert(record.problem.level);
  }
  for (const int level : levels) {
    summary.groups.push_back(make_group(level, records, with_candidates, accept_suspect));
  }
  if (levels.size() > 1) {
    summary.groups.push_back(make_group(std::nullopt, records, with_candidates, accept_suspect));
  }
  if (with_candidates) {
    remark_candidates(summary.remarks, records, accept_suspect);
  }
  const auto if_any = [](const std::string& text) {
    return text.empty() ? std::nullopt : Said(text);
  };
  remark(summary.remarks, "degenerate", records, [](const SuiteRecord& r) {
    return r.degenerate.empty() ? std::nullopt
                                : Said(fmt::format("{}", fmt::join(r.degenerate, "; ")));
  });
  remark(summary.remarks, "refused", records,
         [&](const SuiteRecord& r) { return if_any(r.refused); });
  remark(summary.remarks, "PyTorch gave no answer", records,
         [&](const SuiteRecord& r) { return if_any(r.failed); });
  return summary;
}

}  // namespace kernelpro
