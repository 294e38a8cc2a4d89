// Ramp of a histogram: where a picture's range begins and ends, and the ramp between (ramp.cl).
//
// Launch   (RAMP_GROUP, pictures) work-items, RAMP_GROUP a work-group
// Reads    counts[picture][bin], which become 0; the picture's largest magnitude
// Writes   ramps[picture]
//
// A work-item has the same number of bins as any other, side by side; sums of those before are found by doubling.

// Work-items of a work-group, as fused/gpu/pipeline.py launches them
#define RAMP_GROUP 256

kernel __attribute__((reqd_work_group_size(RAMP_GROUP, 1, 1)))
void gpu_ramp_of_histogram(global ramp_t *ramps, global const wanted_t *wanted, global uint *counts,
                           global const uint *largest, const uint bins)
{
    local uint sums[RAMP_GROUP];
    local real_t ends[2];
    const uint i = get_local_id(0), each = bins / RAMP_GROUP;
    const size_t picture = get_global_id(1);
    counts += picture * bins + i * each;
    if (i < 2)
        ends[i] = bins; // where no sample is larger

    uint own = 0;
    for (uint bin = 0; bin < each; ++bin)
        own += counts[bin];
    sums[i] = own;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = 1; step < RAMP_GROUP; step *= 2) {
        const uint more = i < step ? 0 : sums[i - step];
        barrier(CLK_LOCAL_MEM_FENCE);
        sums[i] += more;
        barrier(CLK_LOCAL_MEM_FENCE);
    }

    uint before = sums[i] - own;
    for (uint bin = 0; bin < each; ++bin) {
        const uint count = counts[bin];
        for (uint end = 0; end < 2; ++end)
            if (wanted->smaller[end] - before < count)
                ends[end] = i * each + bin + (wanted->smaller[end] - before + wanted->part[end]) / count;
        before += count;
        counts[bin] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i == 0) {
        const real_t step = as_float(largest[2 * picture]) / bins;
        ramps[picture] = ramp_between(*wanted, ends[0] * step, ends[1] * step);
    }
}
