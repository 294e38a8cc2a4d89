// Ramp of a histogram: finds where a picture's range begins and ends, and the ramp between (ramp.cl).
//
// Launch   (GROUP, pictures) work-items, GROUP a work-group
// Reads    counts[picture][bin], which become 0; the picture's largest magnitude
// Writes   ramps[picture]
// Local    sums, GROUP numbers
//
// A work-item has some bins side by side. Doubling finds how many samples lie in the bins of those before it.
//
// needs: fused/gpu/attributes.cl ramp.cl
//
// -D ONE_LAUNCH=1     without a kernel: filter.cl calls the function

INLINE void ramp_of_histogram(global ramp_t *ramps, global const wanted_t *wanted, global uint *counts,
                              global const uint *largest, const uint bins, const size_t picture, local uint *sums,
                              local real_t *ends)
{
    const uint i = get_local_id(0), each = (bins + get_local_size(0) - 1) / get_local_size(0);
    const uint first = min(i * each, bins), end = min(first + each, bins);
    counts += picture * bins;
    if (i < 2)
        ends[i] = bins; // where no sample is larger

    uint own = 0;
    for (uint bin = first; bin < end; ++bin)
        own += counts[bin];
    sums[i] = own;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = 1; step < get_local_size(0); step *= 2) {
        const uint more = i < step ? 0 : sums[i - step];
        barrier(CLK_LOCAL_MEM_FENCE);
        sums[i] += more;
        barrier(CLK_LOCAL_MEM_FENCE);
    }

    uint before = sums[i] - own;
    for (uint bin = first; bin < end; ++bin) {
        const uint count = counts[bin];
        for (uint which = 0; which < 2; ++which)
            if (wanted->smaller[which] - before < count)
                ends[which] = bin + (wanted->smaller[which] - before + wanted->part[which]) / count;
        before += count;
        counts[bin] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i == 0) {
        const real_t step = as_float(largest[FOUND * picture]) / bins;
        ramps[picture] = ramp_between(*wanted, ends[0] * step, ends[1] * step);
    }
}

#ifndef ONE_LAUNCH
kernel void gpu_ramp_of_histogram(global ramp_t *ramps, global const wanted_t *wanted, global uint *counts,
                                  global const uint *largest, const uint bins, local uint *sums)
{
    local real_t ends[2];
    ramp_of_histogram(ramps, wanted, counts, largest, bins, get_global_id(1), sums, ends);
}
#endif
