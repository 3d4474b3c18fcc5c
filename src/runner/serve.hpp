// The runner's loop: carry out the worker's requests until it hangs up.
#pragma once

namespace kernelpro::runner {

// Returns the exit code of the process.
int serve();

}  // namespace kernelpro::runner
