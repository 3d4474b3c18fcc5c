// The system-call filter of the runner, in plain BPF for both architectures.
#pragma once

namespace kernelpro::runner {

// Installs the filter on every thread of the process and returns the listener through which the
// worker hears of calls that are not on the list; it answers them. `cuda`: what the driver needs
// after it was opened is on the list too. Returns -1 with errno on failure. The process must have
// no_new_privs.
[[nodiscard]] int install_filter(bool cuda);

// The same where no worker listens, around a process that a profiler has put threads of its own
// into: files are landlock's business, and what reaches beyond the process fails with EPERM. False
// with errno on failure.
[[nodiscard]] bool install_unwatched_filter();

}  // namespace kernelpro::runner
