// The entry of libkernelpro_trace.so: CUDA's driver loads the library that CUDA_INJECTION64_PATH
// names and calls this when it starts.
#include "trace/recorder.hpp"

// 1: the driver goes on; it must, whatever became of the recording.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  kernelpro::trace::start_recording();
  return 1;
}
