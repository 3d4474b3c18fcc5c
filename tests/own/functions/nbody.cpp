#include <cmath>

struct Body {
  float x, y, z, mass;
};

struct Force {
  float x, y, z;
};

// All pairs, softened.
void forces(const Body* bodies, Force* out, int n) {
  for (int i = 0; i < n; ++i) {
    Force f = {0, 0, 0};
    for (int j = 0; j < n; ++j) {
      const float dx = bodies[j].x - bodies[i].x;
      const float dy = bodies[j].y - bodies[i].y;
      const float dz = bodies[j].z - bodies[i].z;
      const float r2 = dx * dx + dy * dy + dz * dz + 0.01f;
      const float s = bodies[j].mass / (r2 * std::sqrt(r2));
      f.x += dx * s;
      f.y += dy * s;
      f.z += dz * s;
    }
    out[i] = f;
  }
}
