// Ramp of a histogram: where a picture's range begins and ends, and the ramp between (ramp.cl).
//
// Launch   (RAMP_GROUP, pictures) work-items, RAMP_GROUP a work-group
// Reads    counts[picture][bin], which become 0; the picture's largest magnitude     -> coalesced
// Writes   ramps[picture]
// Local    own, `bins` numbers, a multiple of RAMP_GROUP

// Work-items of a work-group, as fused/gpu/pipeline.py launches them
#define RAMP_GROUP 256

kernel __attribute__((reqd_work_group_size(RAMP_GROUP, 1, 1)))
void gpu_ramp_of_histogram(global ramp_t *ramps, global const wanted_t *wanted, global uint *counts,
                           global const uint *largest, const uint bins, local uint *own)
{
    local uint sums[RAMP_GROUP];
    local real_t ends[2];
    const uint i = get_local_id(0), each = bins / RAMP_GROUP;
    const size_t picture = get_global_id(1);
    counts += picture * bins;
    for (uint bin = i; bin < bins; bin += RAMP_GROUP) {
        own[bin] = counts[bin];
        counts[bin] = 0;
    }
    if (i < 2)
        ends[i] = bins; // where no sample is larger
    barrier(CLK_LOCAL_MEM_FENCE);

    uint sum = 0;
    for (uint bin = i * each; bin < (i + 1) * each; ++bin)
        sum += own[bin];
    sums[i] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);

    uint before = 0;
    for (uint other = 0; other < i; ++other)
        before += sums[other];
    for (uint bin = i * each; bin < (i + 1) * each; ++bin) {
        for (uint end = 0; end < 2; ++end)
            if (wanted->smaller[end] - before < own[bin])
                ends[end] = bin + (wanted->smaller[end] - before + wanted->part[end]) / own[bin];
        before += own[bin];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i == 0) {
        const real_t step = as_float(largest[2 * picture]) / bins;
        ramps[picture] = ramp_between(*wanted, ends[0] * step, ends[1] * step);
    }
}
