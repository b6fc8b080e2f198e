// Negative log likelihood, the optimiser, and what decides over a replayed epoch.

struct Score {
    double loss;
    u64 right;
};

// Rows and classes; `lane` pairs lie between those of one lane and the next.
struct Targets {
    const uint2 *at;
    i64 lane, count;
    __device__ const uint2 *here() const { return at + blockIdx.z * lane; }
};

// Mean over the targets (row, class), and how many have their largest entry at the target. One block
// for each lane; the place is the clock's where steps are replayed.
extern "C" __global__ void nll_loss(Given given, Targets all, i64 cols, Score *scores, const u32 *clock, i64 slot, i64 slots, u32 base, u32 room) {
    const float *y = given.here();
    const uint2 *targets = all.here();
    i64 count = all.count;
    double sum = 0.0;
    u64 right = 0;
    for (i64 i = threadIdx.x; i < count; i += blockDim.x) {
        uint2 target = targets[i];
        const float *row = y + (i64)target.x * cols;
        i64 best = 0;
        for (i64 j = 1; j < cols; j++) best = row[j] > row[best] ? j : best;
        sum -= (double)row[target.y];
        right += best == target.y;
    }
    sum = block_sum(sum);
    right = block_sum(right);
    if (threadIdx.x == 0) {
        i64 epoch = clock ? (*clock - base) % room : 0;
        Score *score = scores + (epoch * slots + slot) * gridDim.z + blockIdx.z;
        score->loss = sum / (double)(count > 0 ? count : 1);
        score->right = right;
    }
}

extern "C" __global__ void nll_loss_gradient(Given given, Targets all, i64 cols, Matrix gradient) {
    const float *y = given.here();
    const uint2 *targets = all.here();
    i64 count = all.count;
    float *dx = gradient.here();
    float scale = (float)(1.0 / (double)(count > 0 ? count : 1));
    for (i64 i = index(); i < count * cols; i += stride()) {
        uint2 target = targets[i / cols];
        i64 column = i % cols, at = (i64)target.x * cols + column;
        float value = scale * expf(y[at]);
        dx[at] = column == target.y ? value - scale : value;
    }
}

struct Step {
    float rate, correction, first, other_first, second, other_second, epsilon, l2, shrink, clip;
};

// One step of Adam; rate and correction stand in a list by the clock where steps are replayed.
extern "C" __global__ void adam(Step step, const float2 *schedule, const u32 *clock, u32 base, u32 room, Given gradient, Matrix weights, Matrix first, Matrix second, i64 n) {
    const float *grad = gradient.here();
    float *w = weights.here(), *m = first.here(), *v = second.here();
    float rate = step.rate, correction = step.correction;
    if (clock) {
        float2 now = schedule[(*clock - base) % room];
        rate = now.x;
        correction = now.y;
    }
    for (i64 i = index(); i < n; i += stride()) {
        float g = step.clip * grad[i] + step.l2 * w[i];
        m[i] = step.first * m[i] + step.other_first * g;
        v[i] = step.second * v[i] + step.other_second * g * g;
        w[i] = step.shrink * w[i] - rate * m[i] / (sqrtf(v[i]) * correction + step.epsilon);
    }
}

struct Verdict {
    double best;
    u64 epoch;
    u32 improved, over;
};

// After the validation rows of an epoch went through: whether it is the best of its lane so far, and
// whether the lane has stopped. Nothing is judged before the first step.
extern "C" __global__ void judge(const Score *scores, const u32 *clock, i64 slot, i64 slots, u32 base, u32 room, u32 patience, Verdict *verdicts, i64 lanes) {
    i64 lane = index();
    if (lane >= lanes) return;
    Verdict *verdict = verdicts + lane;
    u64 epoch = *clock;
    double loss = scores[((*clock - base) % room * slots + slot) * lanes + lane].loss;
    bool counts = *clock > base && !verdict->over;
    verdict->improved = counts && loss < verdict->best;
    if (verdict->improved) {
        verdict->best = loss;
        verdict->epoch = epoch;
    }
    if (counts && epoch - verdict->epoch >= patience) verdict->over = 1;
}

// Keeps the weights of lanes that improved.
extern "C" __global__ void keep_best(const Verdict *verdicts, Given weights, Matrix best, i64 n) {
    if (!verdicts[blockIdx.z].improved) return;
    const float *from = weights.here();
    float *to = best.here();
    for (i64 i = index(); i < n; i += stride()) to[i] = from[i];
}

extern "C" __global__ void advance(u32 *clock) { *clock += 1; }
