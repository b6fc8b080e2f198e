// Attention over the neighbours, and its gradients: one warp for each row and head. The lanes of a warp
// are `share` neighbours times the columns of a head, or all one neighbour where a head has more columns.

struct Attention {
    const u64 *offsets;
    const u32 *columns;
    Given features, source, target;
    i64 heads, cols, seen, rows;
    float slope, keep;
    u32 threshold; // of 16 bits; 0 for no dropout
    int dropout;
    Key key;
};

__device__ __forceinline__ float score(const Attention &a, const float *s, const float *t, i64 u, i64 v, i64 head) {
    float sum = t[u * a.heads + head] + s[v * a.heads + head];
    return sum > 0.0f ? sum : a.slope * sum;
}

// 0 or 1/(1 − rate) for one head of an edge, a function of the key and the two ends.
__device__ __forceinline__ float edge_mask(const Attention &a, i64 u, i64 v, i64 head) {
    if (!a.dropout) return 1.0f;
    u64 place = (u64)a.key.place(u) << 32 | (u64)a.key.place(v);
    u64 word = a.key.lane_seed() ^ ((u64)a.key.now() << 32 | (u64)a.key.batch);
    u64 start = mix(mix(word ^ ((u64)a.key.site << 48)) + place);
    u64 bits = mix(start + (u64)head / 4) >> (16 * (head % 4));
    return (bits & 0xFFFF) < a.key.short_threshold(a.threshold) ? 0.0f : a.key.kept(a.keep);
}

// The k-th of the neighbours of u below `limit`, u itself last; −1 for one that is left out.
__device__ __forceinline__ i64 neighbour(const Attention &a, i64 u, i64 limit, u64 e, u64 end) {
    bool own = e == end;
    i64 v = own ? u : (i64)(a.columns[e] & COLUMN);
    return v >= limit || (v == u && !own) ? -1 : v;
}

// Threads that stand for the columns of a head: a power of two up to 32.
__device__ __forceinline__ int column_threads(i64 cols) {
    int threads = 1;
    while (threads < cols && threads < 32) threads *= 2;
    return threads;
}

extern "C" __global__ void attend(Attention a, Matrix out, Matrix norms) {
    i64 unit = index() / 32, u = unit / a.heads, head = unit % a.heads;
    if (u >= a.rows) return;
    int lane = threadIdx.x % 32;
    const float *h = a.features.here(), *s = a.source.here(), *t = a.target.here();
    float *y = out.here() + u * a.heads * a.cols + head * a.cols;
    u64 begin = a.offsets[u], end = a.offsets[u + 1];
    float most = score(a, s, t, u, u, head);
    for (u64 e = begin + lane; e <= end; e += 32) {
        i64 v = neighbour(a, u, a.seen, e, end);
        if (v >= 0) most = fmaxf(most, score(a, s, t, u, v, head));
    }
    most = warp_max(most);
    float total = 0.0f;
    for (u64 e = begin + lane; e <= end; e += 32) {
        i64 v = neighbour(a, u, a.seen, e, end);
        if (v >= 0) total += expf(score(a, s, t, u, v, head) - most);
    }
    total = warp_sum(total);
    int threads = column_threads(a.cols), share = 32 / threads;
    for (i64 base = 0; base < a.cols; base += threads) {
        i64 column = base + lane % threads;
        float sum = 0.0f;
        for (u64 e = begin + lane / threads; e <= end; e += share) {
            i64 v = neighbour(a, u, a.seen, e, end);
            if (v < 0 || column >= a.cols) continue;
            float weight = expf(score(a, s, t, u, v, head) - most) * edge_mask(a, u, v, head);
            sum += weight * h[(v * a.heads + head) * a.cols + column];
        }
        for (int far = threads; far < 32; far *= 2) sum += __shfl_xor_sync(0xffffffffu, sum, far);
        if (lane < threads && column < a.cols) y[column] = sum / total;
    }
    if (lane == 0) {
        float *norm = norms.here() + 2 * (u * a.heads + head);
        norm[0] = most;
        norm[1] = total;
    }
}

struct Back {
    Given norms, out, dy;
    Matrix along; // ⟨dy(u), y(u)⟩ for each row and head
};

extern "C" __global__ void attend_along(Attention a, Back back) {
    const float *y = back.out.here(), *dy = back.dy.here();
    float *along = back.along.here();
    for (i64 i = index(); i < a.rows * a.heads; i += stride()) {
        float sum = 0.0f;
        for (i64 j = i * a.cols; j < (i + 1) * a.cols; j++) sum += y[j] * dy[j];
        along[i] = sum;
    }
}

// Of one edge: ∂e(u,v), the slope of LeakyReLU included, and mask·α(u,v).
__device__ __forceinline__ float2 edge_gradient(const Attention &a, const Back &back, const float *h, const float *s, const float *t, const float *dy, i64 u, i64 v, i64 head) {
    float w = score(a, s, t, u, v, head);
    i64 unit = u * a.heads + head;
    const float *norm = back.norms.here() + 2 * unit;
    float slope = w > 0.0f ? 1.0f : a.slope, alpha = expf(w - norm[0]) / norm[1], to = 0.0f;
    const float *from = h + (v * a.heads + head) * a.cols, *given = dy + unit * a.cols;
    for (i64 j = 0; j < a.cols; j++) to += from[j] * given[j];
    float mask = edge_mask(a, u, v, head);
    return make_float2(slope * alpha * (mask * to - back.along.here()[unit]), mask * alpha);
}

// Gradients of h(v) and s(v), from all rows that v takes part in.
extern "C" __global__ void attend_sources(Attention a, Back back, Matrix features, Matrix source) {
    i64 unit = index() / 32, v = unit / a.heads, head = unit % a.heads;
    if (v >= a.seen) return;
    int lane = threadIdx.x % 32;
    const float *h = a.features.here(), *s = a.source.here(), *t = a.target.here(), *dy = back.dy.here();
    float *dh = features.here() + unit * a.cols;
    u64 begin = a.offsets[v], end = a.offsets[v + 1];
    int threads = column_threads(a.cols), share = 32 / threads;
    float total = 0.0f;
    for (i64 base = 0; base < a.cols; base += threads) {
        i64 column = base + lane % threads;
        float sum = 0.0f;
        for (u64 e = begin + lane / threads; e <= end; e += share) {
            i64 u = neighbour(a, v, a.rows, e, end);
            if (u < 0) continue;
            float2 edge = edge_gradient(a, back, h, s, t, dy, u, v, head);
            if (column < a.cols) sum += edge.y * dy[(u * a.heads + head) * a.cols + column];
            if (base == 0 && lane % threads == 0) total += edge.x;
        }
        for (int far = threads; far < 32; far *= 2) sum += __shfl_xor_sync(0xffffffffu, sum, far);
        if (lane < threads && column < a.cols) dh[column] += sum;
    }
    total = warp_sum(total);
    if (lane == 0) source.here()[unit] += total;
}

// Gradient of t(u), from all neighbours of u.
extern "C" __global__ void attend_targets(Attention a, Back back, Matrix target) {
    i64 unit = index() / 32, u = unit / a.heads, head = unit % a.heads;
    if (u >= a.rows) return;
    const float *h = a.features.here(), *s = a.source.here(), *t = a.target.here(), *dy = back.dy.here();
    u64 begin = a.offsets[u], end = a.offsets[u + 1];
    float total = 0.0f;
    for (u64 e = begin + threadIdx.x % 32; e <= end; e += 32) {
        i64 v = neighbour(a, u, a.seen, e, end);
        if (v >= 0) total += edge_gradient(a, back, h, s, t, dy, u, v, head).x;
    }
    total = warp_sum(total);
    if (threadIdx.x % 32 == 0) target.here()[unit] += total;
}
