// How right the tools for processors are: each tool on each case that capture_cpu captured.
//
//   cpu_precision cases.jsonl [--half calibration|held-out|all] [--list]
//
// Held out are the shapes that begin with second_, written by somebody who had not seen the tools;
// limits were set on all others. A defect counts where it takes 10 % longer than its twin by
// measurement, and a finding of another tool counts as wrong unless the case says that it would be
// right too.
#include <cstdio>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "common/base/file.hpp"
#include "common/wire/profile_json.hpp"
#include "must.hpp"
#include "score.hpp"
#include "support/defect_cases.hpp"
#include "worker/diagnose/diagnose.hpp"
#include "worker/diagnose/tools/tool.hpp"

namespace {

using nlohmann::json;
using namespace kernelpro;

struct Sums {
  std::map<std::string, Score> tools;
  std::vector<std::pair<double, double>> gains;
  int cases = 0;
  int defects = 0;
};

bool in_half(const std::string& name, const std::string& half) {
  const bool second = name.find("/second_") != std::string::npos;
  return half == "all" || second == (half == "held-out");
}

void judge(const json& one, bool list, Sums& sums) {
  const std::string name = one.at("name");
  const double gain = one.at("gain");
  const bool there = one.at("defective").get<bool>() && gain >= worth_removing;
  const auto also = one.at("also").get<std::vector<std::string>>();
  std::map<std::string, double> found;
  for (const Finding& finding : diagnose(must(profile_from_json(one.at("profile")))).findings) {
    found[finding.tool] = std::max(found[finding.tool], finding.predicted_gain);
  }
  ++sums.cases;
  sums.defects += there ? 1 : 0;
  for (const Tool& tool : host_tools()) {
    const bool own = one.at("tool") == tool.id;
    if (!own && std::find(also.begin(), also.end(), tool.id) != also.end()) {
      continue;
    }
    const bool speaks = found.contains(tool.id);
    count(sums.tools[tool.id], own && there, speaks);
    if (list && (speaks || (own && there))) {
      std::fprintf(stderr, "%-7s %-16s %-44s gain %.2f predicted %.2f\n",
                   !speaks ? "missed" : (own && there ? "right" : "wrong"), tool.id.c_str(),
                   name.c_str(), gain, speaks ? found[tool.id] : 1.0);
    }
    if (own && there) {
      sums.gains.emplace_back(speaks ? found[tool.id] : 1.0, gain);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    give_up("cpu_precision cases.jsonl [--half calibration|held-out|all] [--list]");
  }
  std::string half = "held-out";
  bool list = false;
  for (int i = 2; i < argc; ++i) {
    list = list || std::strcmp(argv[i], "--list") == 0;
    if (std::strcmp(argv[i], "--half") == 0 && i + 1 < argc) {
      half = argv[++i];
    }
  }
  Sums sums;
  std::istringstream lines(must(read_file(argv[1])));
  for (std::string line; std::getline(lines, line);) {
    const json one = json::parse(line);
    if (in_half(one.at("name"), half)) {
      judge(one, list, sums);
    }
  }
  json tools = json::object();
  Score all;
  for (const auto& [tool, score] : sums.tools) {
    tools[tool] = to_json(score);
    all += score;
  }
  std::printf("%s\n", json{{"half", half},
                           {"cases", sums.cases},
                           {"defects", sums.defects},
                           {"tools", tools},
                           {"overall", to_json(all)},
                           {"gain_rank_correlation", rank_correlation(sums.gains)}}
                          .dump(1)
                          .c_str());
  return 0;
}
