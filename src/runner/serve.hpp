// The runner's loop: carry out the worker's requests until it hangs up.
#pragma once

#include "runner/device.hpp"
#include "runner/tracer.hpp"

namespace kernelpro::runner {

// Calls run on `device` if it is open, else on the CPU; `tracer` is asked only if it is open.
// Returns the exit code of the process.
int serve(Device& device, Tracer& tracer);

}  // namespace kernelpro::runner
