// The figures of a kernel (common/model/figure_keys.hpp) and where ncu has them.
//
// A figure has several names of ncu's, best first: GPUs and versions of ncu differ in what they
// have. metrics.cpp holds the table.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/model/profile.hpp"
#include "worker/profile/ncu_report.hpp"

namespace kernelpro {

// All keys that ncu can give a figure for.
[[nodiscard]] std::vector<std::string> ncu_keys();

// ncu's names for a key, best first; empty: ncu has nothing for it.
[[nodiscard]] std::vector<std::string> ncu_names_of(std::string_view key);

// What to ask ncu for: for each key the best name that fits the architecture ("sm_90"; empty: not
// known) and was not refused before. A key of which all names were refused is left out.
[[nodiscard]] std::vector<std::string> ncu_names(const std::vector<std::string>& keys,
                                                 std::string_view architecture,
                                                 const std::set<std::string>& refused);

struct NcuFigures {
  std::map<std::string, Figure> figures;
  std::map<std::string, std::string> missing;  // key -> why
};

// The figures for `keys` at one launch, by the best name that has a number. A number that cannot
// be true (a share of more than 1.2, a negative count) is missing, with the reason.
[[nodiscard]] NcuFigures figures_from(const NcuRawReport& report, const NcuLaunch& launch,
                                      const std::vector<std::string>& keys);

// The samples of the launch by stall reason, as the raw page sums them up.
[[nodiscard]] Stalls stalls_from(const NcuRawReport& report, const NcuLaunch& launch);

}  // namespace kernelpro
