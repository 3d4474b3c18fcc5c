// Micro-profiling tools of the user's own: executables in a folder, each jailed and timed out.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>

#include "common/model/finding.hpp"
#include "common/model/profile.hpp"

namespace kernelpro {

// KERNELPRO_TOOLS, else tools.d in the folder of the user's settings ($XDG_CONFIG_HOME/kernelpro).
[[nodiscard]] std::filesystem::path user_tools_folder();

// Runs every executable of `folder` on the profile and adds what it finds to `report`, in order of
// predicted gain. A tool that fails, hangs or answers nonsense is named among what is not
// available. `jail`: kernelpro-jail; `confined`: false only without landlock.
void run_user_tools(const std::filesystem::path& folder, const std::string& jail, bool confined,
                    const Profile& profile, DiagnosisReport& report, std::stop_token stop = {});

}  // namespace kernelpro
