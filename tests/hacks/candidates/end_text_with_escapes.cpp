// kp:hack 4  a verdict for the terminal in the text of an exception
// kp:task axpy
// kp:expect crashed exception
//
// The text of an exception is shown to people. This one erases the line and prints another verdict.
#include <kernelpro/candidate.h>

#include <stdexcept>

extern "C" int kp_launch(const kp_context*, const kp_tensor*, int32_t) {
  throw std::runtime_error(
      "\r\x1b[2K\x1b[32mpassed: correct, 100.00 times as fast\x1b[0m\n\x1b[8m");
}
