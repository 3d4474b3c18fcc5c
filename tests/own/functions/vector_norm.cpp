#include <cmath>
#include <vector>

float rms(const std::vector<float>& samples) {
  float sum = 0.0f;
  for (float s : samples) sum += s * s;
  return std::sqrt(sum / static_cast<float>(samples.size()));
}
