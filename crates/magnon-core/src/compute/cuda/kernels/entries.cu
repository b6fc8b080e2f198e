// Functions of single entries, masks, and copies.

extern "C" __global__ void scale(float factor, Given x, Matrix y, int add, i64 n) {
    const float *from = x.here();
    float *to = y.here();
    for (i64 i = index(); i < n; i += stride()) {
        float value = factor * from[i];
        to[i] = add ? to[i] + value : value;
    }
}

extern "C" __global__ void scale_by(Given c, i64 k, Given x, Matrix y, int add, i64 n) {
    float factor = c.here()[k];
    const float *from = x.here();
    float *to = y.here();
    for (i64 i = index(); i < n; i += stride()) {
        float value = factor * from[i];
        to[i] = add ? to[i] + value : value;
    }
}

extern "C" __global__ void multiply(Given a, Given x, Matrix y, int add, i64 n) {
    const float *left = a.here(), *right = x.here();
    float *to = y.here();
    for (i64 i = index(); i < n; i += stride()) {
        float value = left[i] * right[i];
        to[i] = add ? to[i] + value : value;
    }
}

extern "C" __global__ void maximum(Given a, Given b, Matrix y, i64 n) {
    const float *left = a.here(), *right = b.here();
    float *to = y.here();
    for (i64 i = index(); i < n; i += stride()) to[i] = left[i] >= right[i] ? left[i] : right[i];
}

extern "C" __global__ void maximum_gradient(Given x, Given other, int strict, Given dy, Matrix dx, i64 n) {
    const float *own = x.here(), *rival = other.here(), *from = dy.here();
    float *to = dx.here();
    for (i64 i = index(); i < n; i += stride()) {
        bool taken = strict ? own[i] > rival[i] : own[i] >= rival[i];
        to[i] += taken ? from[i] : 0.0f;
    }
}

extern "C" __global__ void add_bias(Given bias, Matrix y, i64 width, i64 n) {
    const float *row = bias.here();
    float *to = y.here();
    for (i64 i = index(); i < n; i += stride()) to[i] += row[i % width];
}

// The columns of x to those of y from `at` on.
extern "C" __global__ void put_columns(Given x, i64 from, Matrix y, i64 to, i64 at, i64 n) {
    const float *in = x.here();
    float *out = y.here();
    for (i64 i = index(); i < n; i += stride()) out[i / from * to + at + i % from] = in[i];
}

// The columns of y from `at` on, added to x.
extern "C" __global__ void add_columns(Given y, i64 from, i64 at, Matrix x, i64 to, i64 n) {
    const float *in = y.here();
    float *out = x.here();
    for (i64 i = index(); i < n; i += stride()) out[i] += in[i / to * from + at + i % to];
}

// Real numbers as complex ones, and the real parts of complex ones.
extern "C" __global__ void widen(Given x, Matrix y, i64 n) {
    const float *in = x.here();
    float2 *out = (float2 *)y.here();
    for (i64 i = index(); i < n; i += stride()) out[i] = make_float2(in[i], 0.0f);
}

extern "C" __global__ void narrow(Given x, Matrix y, int add, i64 n) {
    const float *in = x.here();
    float *out = y.here();
    for (i64 i = index(); i < n; i += stride()) out[i] = add ? out[i] + in[2 * i] : in[2 * i];
}

__device__ __forceinline__ float positive(float x) { return x < 0.0f ? 0.0f : x; } // NaN stays

enum { TANH, RELU, ELU, GATED_TANH, EXPONENTIAL_GATE, COMPLEX_RELU, SPLIT_RELU, MODULUS, REAL_PART, LIFT, PARTS };

// y = f(x) for n entries of x.
extern "C" __global__ void activate(int f, Given given, Matrix result, i64 cols, i64 n) {
    const float *x = given.here();
    float *y = result.here();
    const float2 *z = (const float2 *)x;
    float2 *w = (float2 *)y;
    for (i64 i = index(); i < n; i += stride()) {
        switch (f) {
        case TANH: y[i] = tanhf(x[i]); break;
        case RELU: y[i] = positive(x[i]); break;
        case ELU: y[i] = x[i] > 0.0f ? x[i] : expf(x[i]) - 1.0f; break;
        case GATED_TANH: y[i] = tanhf(z[i].x) * tanhf(z[i].y); break;
        case EXPONENTIAL_GATE: y[i] = z[i].x * tanhf(expf(z[i].y)); break;
        case COMPLEX_RELU: w[i] = z[i].x >= 0.0f ? z[i] : make_float2(0.0f, 0.0f); break;
        case SPLIT_RELU: w[i] = make_float2(positive(z[i].x), positive(z[i].y)); break;
        case MODULUS: y[i] = sqrtf(z[i].x * z[i].x + z[i].y * z[i].y); break;
        case REAL_PART: y[i] = z[i].x; break;
        case LIFT: w[i] = make_float2(x[i], 0.0f); break;
        case PARTS: {
            i64 row = i / cols * 2 * cols, col = i % cols;
            y[row + col] = z[i].x;
            y[row + cols + col] = z[i].y;
            break;
        }
        }
    }
}

// dx += f'(x)·dy.
extern "C" __global__ void activate_gradient(int f, Given given, Given result, Given back, Matrix gradient, i64 cols, i64 n) {
    const float *x = given.here(), *y = result.here(), *dy = back.here();
    float *dx = gradient.here();
    const float2 *z = (const float2 *)x, *dw = (const float2 *)dy;
    float2 *dz = (float2 *)dx;
    for (i64 i = index(); i < n; i += stride()) {
        switch (f) {
        case TANH: dx[i] += (1.0f - y[i] * y[i]) * dy[i]; break;
        case RELU: dx[i] += x[i] > 0.0f ? dy[i] : 0.0f; break;
        case ELU: dx[i] += x[i] > 0.0f ? dy[i] : (y[i] + 1.0f) * dy[i]; break;
        case GATED_TANH: {
            float a = tanhf(z[i].x), b = tanhf(z[i].y);
            dz[i].x += (1.0f - a * a) * b * dy[i];
            dz[i].y += a * (1.0f - b * b) * dy[i];
            break;
        }
        case EXPONENTIAL_GATE: {
            float e = expf(z[i].y), gate = tanhf(e);
            dz[i].x += gate * dy[i];
            // Where e^b overflows, the gate is shut for good: its slope is 0, not 0·∞.
            float slope = gate == 1.0f ? 0.0f : (1.0f - gate * gate) * e;
            dz[i].y += z[i].x * slope * dy[i];
            break;
        }
        case COMPLEX_RELU:
            if (z[i].x >= 0.0f) {
                dz[i].x += dw[i].x;
                dz[i].y += dw[i].y;
            }
            break;
        case SPLIT_RELU:
            dz[i].x += z[i].x > 0.0f ? dw[i].x : 0.0f;
            dz[i].y += z[i].y > 0.0f ? dw[i].y : 0.0f;
            break;
        case MODULUS: {
            float scale = y[i] > 0.0f ? dy[i] / y[i] : 0.0f; // at 0 a subgradient
            dz[i].x += z[i].x * scale;
            dz[i].y += z[i].y * scale;
            break;
        }
        case REAL_PART: dz[i].x += dy[i]; break;
        case LIFT: dx[i] += dw[i].x; break;
        case PARTS: {
            i64 row = i / cols * 2 * cols, col = i % cols;
            dz[i].x += dy[row + col];
            dz[i].y += dy[row + cols + col];
            break;
        }
        }
    }
}

// 0 at the rate of the threshold and `keep` elsewhere, the same draws as in main memory: blocks of 64
// entries take 16 counters, each of which gives one entry to each quarter of the block.
extern "C" __global__ void draw_mask(u32 threshold, float keep, Key key, int parts, Matrix mask, i64 entries, i64 cols) {
    float *out = mask.here();
    u64 seed = key.lane_seed();
    threshold = key.threshold(threshold);
    keep = key.kept(keep);
    if (key.places) {
        // Rows of `cols` entries that are elsewhere in the draws.
        for (i64 i = index(); i < entries; i += stride()) {
            i64 at = key.place(i / cols) * cols + i % cols, within = at % 64;
            uint4 words = philox(make_uint4((u32)(at / 64 * 16 + within % 16), key.now(), key.batch, key.site),
                                 make_uint2((u32)seed, (u32)(seed >> 32)));
            i64 quarter = within / 16;
            u32 drawn = quarter == 0 ? words.x : quarter == 1 ? words.y : quarter == 2 ? words.z : words.w;
            float value = drawn >= threshold ? keep : 0.0f;
            for (int part = 0; part < parts; part++) out[i * parts + part] = value;
        }
        return;
    }
    i64 counters = (entries + 63) / 64 * 16;
    for (i64 i = index(); i < counters; i += stride()) {
        uint4 words = philox(make_uint4((u32)i, key.now(), key.batch, key.site),
                             make_uint2((u32)seed, (u32)(seed >> 32)));
        i64 first = i / 16 * 64 + i % 16;
        u32 drawn[4] = {words.x, words.y, words.z, words.w};
        for (int quarter = 0; quarter < 4; quarter++) {
            i64 at = first + 16 * quarter;
            if (at >= entries) break;
            float value = drawn[quarter] >= threshold ? keep : 0.0f;
            for (int part = 0; part < parts; part++) out[at * parts + part] = value;
        }
    }
}

extern "C" __global__ void mask_map(Given values, Matrix mask, i64 n) {
    const float *from = values.here();
    float *to = mask.here();
    for (i64 i = index(); i < n; i += stride()) to[i] *= from[i];
}
