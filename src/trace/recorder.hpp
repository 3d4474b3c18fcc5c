// Records what the process asks of its GPUs, by CUPTI, from now to its end.
#pragma once

namespace kernelpro::trace {

// To be called once, when the driver starts. Writes to the file that KERNELPRO_TRACE_FILE names;
// does nothing without it. Where it cannot record, the file says why, and the program runs on as
// ever.
void start_recording() noexcept;

}  // namespace kernelpro::trace
