#include "coordinator/report/kernelbench_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "common/base/random.hpp"
#include "common/model/statistics.hpp"
#include "coordinator/report/kernelbench_table.hpp"
#include "coordinator/report/table.hpp"

namespace kernelpro {
namespace {

constexpr std::uint64_t bootstrap_seed = 1;
constexpr int resamples = 10'000;
constexpr double least_floor = 0.01;

bool has_candidates(const std::vector<SuiteRecord>& records) {
  return std::ranges::any_of(records, [](const SuiteRecord& r) { return r.candidate.has_value(); });
}

// What counts of a record: the candidate's time or that of eager-fp32; 0 when there is none.
double time_that_counts(const SuiteRecord& record, bool of_candidate, bool accept_suspect) {
  if (of_candidate) {
    return counts_as_correct(record, accept_suspect) ? record.candidate->time_ns : 0;
  }
  const auto found = record.times.find(fp32_mode);
  return found == record.times.end() ? 0 : median(found->second);
}

double floor_of(const SuiteRecord& record) {
  const double own = record.candidate ? record.candidate->noise_floor : 0;
  return own > least_floor ? own : least_floor;
}

// The 95 % percentile bootstrap of the geometric mean: pairs are drawn with repetition.
Interval bootstrap_mean(const std::vector<double>& logs) {
  if (logs.size() < least_pairs) {
    return {0, std::numeric_limits<double>::infinity()};
  }
  Random random(bootstrap_seed);
  std::vector<double> means;
  means.reserve(resamples);
  for (int i = 0; i < resamples; ++i) {
    double sum = 0;
    for (std::size_t draw = 0; draw < logs.size(); ++draw) {
      sum += logs[random.below(logs.size())];
    }
    means.push_back(sum / static_cast<double>(logs.size()));
  }
  return {std::exp(quantile(means, 0.025)), std::exp(quantile(means, 0.975))};
}

void weigh_pairs(SuiteComparison& out) {
  std::vector<double> logs;
  std::vector<double> ratios;
  logs.reserve(out.pairs.size());
  ratios.reserve(out.pairs.size());
  for (const SuitePair& pair : out.pairs) {
    const double ratio = pair.there_ns / pair.here_ns;
    ratios.push_back(ratio);
    logs.push_back(std::log(ratio));
    if (ratio > 1 + pair.floor) {
      ++out.faster;
    } else if (ratio < 1 / (1 + pair.floor)) {
      ++out.slower;
    } else {
      ++out.same;
    }
  }
  out.ratio = ratios.empty() ? 1 : geometric_mean(ratios);
  out.interval = bootstrap_mean(logs);
  out.sign_p = sign_test(out.faster, out.slower);
}

std::string names_text(const std::vector<ProblemId>& problems) {
  std::vector<std::string> names;
  names.reserve(problems.size());
  for (const ProblemId& problem : problems) {
    names.push_back(text_of(problem));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string ratio_line(const SuiteComparison& comparison, const std::string& here,
                       const std::string& there) {
  if (comparison.pairs.size() < least_pairs) {
    return fmt::format(
        "geometric mean {:.3f} over {} problems; no difference can be shown: that takes {} "
        "problems\n",
        comparison.ratio, comparison.pairs.size(), least_pairs);
  }
  const Interval& interval = comparison.interval;
  const std::string said = comparison.differ() ? fmt::format("{} is the faster of the two",
                                                             comparison.ratio > 1 ? here : there)
                                               : "no difference can be shown";
  return fmt::format(
      "{} is {:.3f} times as fast as {}, 95 % interval [{:.3f}, {:.3f}] over {} problems: {}\n",
      here, comparison.ratio, there, interval.low, interval.high, comparison.pairs.size(), said);
}

}  // namespace

double sign_test(std::size_t faster, std::size_t slower) {
  const std::size_t tosses = faster + slower;
  const std::size_t fewer = std::min(faster, slower);
  double tail = 0;
  double log_choose = 0;  // of (tosses over k)
  for (std::size_t k = 0; k <= fewer; ++k) {
    tail += std::exp(log_choose - (static_cast<double>(tosses) * std::log(2.0)));
    log_choose += std::log(static_cast<double>(tosses - k)) - std::log(static_cast<double>(k + 1));
  }
  return std::min(1.0, 2 * tail);
}

Result<SuiteComparison> compare_suites(const std::vector<SuiteRecord>& here,
                                       const std::vector<SuiteRecord>& there, bool accept_suspect) {
  SuiteComparison out;
  out.of_candidates = has_candidates(here);
  if (out.of_candidates != has_candidates(there)) {
    return make_error(ErrorKind::bad_input,
                      fmt::format("{} holds candidates and the other does not; measure both with "
                                  "--candidates, or both without",
                                  out.of_candidates ? "the file of --into" : "that of --against"));
  }
  std::map<ProblemId, const SuiteRecord*> others;
  for (const SuiteRecord& record : there) {
    others[record.problem] = &record;
  }
  for (const SuiteRecord& record : here) {
    const auto other = others.find(record.problem);
    if (other == others.end()) {
      continue;
    }
    ++out.in_both;
    const double here_ns = time_that_counts(record, out.of_candidates, accept_suspect);
    const double there_ns = time_that_counts(*other->second, out.of_candidates, accept_suspect);
    if (here_ns > 0 && there_ns > 0) {
      const double floor = std::max(floor_of(record), floor_of(*other->second));
      out.pairs.push_back({record.problem, here_ns, there_ns, floor});
    } else if (here_ns > 0) {
      out.only_here.push_back(record.problem);
    } else if (there_ns > 0) {
      out.only_there.push_back(record.problem);
    }
  }
  if (out.in_both == 0) {
    return make_error(ErrorKind::bad_input,
                      "the two files have no problem in common; nothing can be compared");
  }
  weigh_pairs(out);
  return out;
}

std::string comparison_text(const SuiteComparison& comparison, const std::string& here,
                            const std::string& there) {
  const char* const solved = comparison.of_candidates ? "solved" : "measured";
  std::string out = fmt::format("{}: {} against {}, {} problems in both, {} {} by both\n",
                                comparison.of_candidates ? "candidates" : "PyTorch, eager-fp32",
                                here, there, comparison.in_both, comparison.pairs.size(), solved);
  if (!comparison.pairs.empty()) {
    out += ratio_line(comparison, here, there);
    out += fmt::format("faster {}, slower {}, same {}; sign test p = {:.3g}\n", comparison.faster,
                       comparison.slower, comparison.same, comparison.sign_p);
  }
  for (const auto& [name, problems] :
       {std::pair(here, comparison.only_here), std::pair(there, comparison.only_there)}) {
    if (!problems.empty()) {
      out += fmt::format("{} only in {}, {}: {}\n", solved, name, problems.size(),
                         names_text(problems));
    }
  }
  return out;
}

nlohmann::json comparison_json(const SuiteComparison& comparison) {
  const auto names = [](const std::vector<ProblemId>& problems) {
    nlohmann::json list = nlohmann::json::array();
    for (const ProblemId& problem : problems) {
      list.push_back(text_of(problem));
    }
    return list;
  };
  nlohmann::json pairs = nlohmann::json::array();
  for (const SuitePair& pair : comparison.pairs) {
    pairs.push_back({{"problem", text_of(pair.problem)},
                     {"here_ns", pair.here_ns},
                     {"there_ns", pair.there_ns}});
  }
  const bool enough = comparison.pairs.size() >= least_pairs;
  return {{"of", comparison.of_candidates ? "candidates" : fp32_mode},
          {"in_both", comparison.in_both},
          {"pairs", std::move(pairs)},
          {"ratio", comparison.ratio},
          {"interval", enough ? nlohmann::json({comparison.interval.low, comparison.interval.high})
                              : nlohmann::json()},
          {"difference_shown", comparison.differ()},
          {"sign_p", comparison.sign_p},
          {"faster", comparison.faster},
          {"slower", comparison.slower},
          {"same", comparison.same},
          {"only_here", names(comparison.only_here)},
          {"only_there", names(comparison.only_there)}};
}

}  // namespace kernelpro
