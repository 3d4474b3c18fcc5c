// Runs ncu around a program, and reads its report into kernel profiles.
#pragma once

#include <filesystem>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "worker/profile/metrics.hpp"
#include "worker/profile/ncu_command.hpp"
#include "worker/profile/ncu_messages.hpp"
#include "worker/profile/ncu_source.hpp"
#include "worker/profile/profiled_program.hpp"

namespace kernelpro {

// What a report holds, page by page.
struct NcuPages {
  NcuRawReport raw;
  NcuSourceReport source;
  std::vector<std::size_t> block_of;  // launch -> kernel of the source page; empty: not known
  std::string source_problem;         // why not
  NcuRules rules;
};

// Runs ncu with `wish` around `program`. Metrics that ncu refuses are put into `refused` and asked
// for no more; `keys` are ours.
[[nodiscard]] Result<std::optional<NcuFailure>> run_ncu(
    const std::string& ncu, const ProfiledProgram& program, NcuWish wish,
    const std::vector<std::string>& keys, const std::string& architecture,
    std::set<std::string>& refused, std::stop_token stop = {});

// Reads the pages of `report`, by an ncu that runs as the program did.
[[nodiscard]] Result<NcuPages> read_ncu_pages(const std::string& ncu,
                                              const ProfiledProgram& program, const NcuWish& wish,
                                              std::stop_token stop = {});

// Puts what the pages say of launch `launch` into `kernel`.
void add_ncu(const NcuPages& pages, std::size_t launch, const std::vector<std::string>& keys,
             KernelProfile& kernel);

// The limits of the GPU that the launch ran on (Profile::limits), as far as the page has them.
[[nodiscard]] std::map<std::string, double> limits_from(const NcuRawReport& report,
                                                        const NcuLaunch& launch);

}  // namespace kernelpro
