// Libraries of headers, read from the folders that users name.
#pragma once

#include "common/base/result.hpp"
#include "common/model/header_library.hpp"
#include "common/model/orders.hpp"

namespace kernelpro {

// Every text file below the folder. Links that lead out of it, large files and binary ones are left
// out, with the reason.
[[nodiscard]] Result<HeaderLibrary> read_header_folder(const HeaderFolder& named);

// The folders of `judging`, and those of the task that it does not name otherwise.
[[nodiscard]] std::vector<HeaderFolder> header_folders(const JudgingSettings& judging,
                                                       const Task& task);

// The same as they are now: with hash and commit, for a run to keep.
[[nodiscard]] Result<std::vector<HeaderFolder>> pinned(std::vector<HeaderFolder> folders);

// An order to open a task, with what its candidates may include. A library that has changed since
// it was pinned is an error.
[[nodiscard]] Result<OpenOrder> with_headers(OpenOrder order);

}  // namespace kernelpro
