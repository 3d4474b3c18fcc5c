// The runner's loop: carry out the worker's requests until it hangs up.
#pragma once

#include "runner/device.hpp"

namespace kernelpro::runner {

// Calls run on `device` if it is open, else on the CPU. Returns the exit code of the process.
int serve(Device& device);

}  // namespace kernelpro::runner
