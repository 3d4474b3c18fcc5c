#include <cstdint>

namespace dsp {

// Fixed-point FIR: Q15 samples and taps.
void fir_q15(const int16_t* samples, const int16_t* taps, int16_t* out, int count, int ntaps) {
  for (int i = 0; i < count; ++i) {
    int64_t acc = 0;
    for (int k = 0; k < ntaps; ++k) {
      acc += static_cast<int64_t>(samples[i + k]) * taps[k];
    }
    acc >>= 15;
    if (acc > 32767) acc = 32767;
    if (acc < -32768) acc = -32768;
    out[i] = static_cast<int16_t>(acc);
  }
}

}  // namespace dsp
