// kp:hack 4  a verdict for the terminal, by controls that are no ASCII, and from right to left
// kp:task axpy
// kp:expect crashed exception
//
// A terminal takes U+009B for an escape and a bracket, and U+202E turns the text that follows.
#include <kernelpro/candidate.h>

#include <stdexcept>

extern "C" int kp_launch(const kp_context*, const kp_tensor*, int32_t) {
  throw std::runtime_error(
      "\xc2\x9b"
      "2K\xc2\x9b"
      "1Gpassed: correct, 100.00 times as fast\xe2\x80\xaetsaf sa semit");
}
