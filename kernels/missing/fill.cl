// Fill: values for missing pixels, by push and pull over a pyramid of halved images. The twin of
// fftfilter/missing.py, which says why. Nothing wraps around.
//
// A level has images (height, width) of values and of holes, which are 1 where a pixel is missing, else 0. Level 0 lies
// in buffers of its own; the coarse ones lie one behind the other, each `first` numbers from the beginning.
//
// Reads   pixels and holes of a level, and values of the next coarser one
// Writes  halve: the next coarser level; pull, sweep: the holes of a level; coarsest: the levels that are left
// Launch  (runs, rows, images), work-groups along rows: a work-item takes every get_global_size(0)-th run of a row, all
//         of them on a CPU, one on a GPU. A run is RUN pixels of the finer level. coarsest: one work-group an image

// Return whether a run has a hole, or is cut off by the end of the row. Most have none, and are passed over at once.
bool has_hole(global const uchar *holes, const uint run, const uint width)
{
    if (run + RUN > width)
        return true;
    uchar found = 0;
    for (uint x = 0; x < RUN; x++)
        found |= holes[run + x];
    return found;
}

// Push: a coarse pixel is the mean of the valid ones of four fine pixels, and a hole if none is valid. Odd sides round
// up; their last pixel is its own neighbor, which does not change the mean.
void halve_row(global const real_t *values, global const uchar *holes, ulong first, uint width, uint height,
               global real_t *coarse, global uchar *coarse_holes, ulong coarse_first, uint image, uint y, uint from,
               uint step)
{
    const uint coarse_width = (width + 1) / 2, coarse_height = (height + 1) / 2;
    const ulong upper = first + ((ulong)image * height + 2 * y) * width;
    const ulong lower = 2 * y + 1 < height ? upper + width : upper;
    const ulong row = coarse_first + ((ulong)image * coarse_height + y) * coarse_width;
    for (uint run = RUN * from; run < width; run += RUN * step) {
        const uint end = min((run + RUN) / 2, coarse_width);
        if (!has_hole(holes + upper, run, width) && !has_hole(holes + lower, run, width)) {
            for (uint x = run / 2; x < end; x++) {
                const ulong a = upper + 2 * x, b = lower + 2 * x;
                coarse[row + x] = (values[a] + values[a + 1] + values[b] + values[b + 1]) / 4;
                coarse_holes[row + x] = 0;
            }
            continue;
        }
        for (uint x = run / 2; x < end; x++) {
            const uint left = 2 * x, right = min(left + 1, width - 1);
            const uchar a = holes[upper + left], b = holes[upper + right], c = holes[lower + left],
                        d = holes[lower + right];
            const real_t p = values[upper + left], q = values[upper + right], r = values[lower + left],
                         s = values[lower + right];
            const real_t sum = (a ? 0 : p) + (b ? 0 : q) + (c ? 0 : r) + (d ? 0 : s);
            const uchar missing = a + b + c + d;
            coarse[row + x] = sum / (real_t)(missing == 4 ? 1 : 4 - missing);
            coarse_holes[row + x] = missing == 4;
        }
    }
}

// Pull: holes of one color of the checkerboard get the bilinear value of the coarser level; the others get the mean of
// these in the first half of a sweep.
void pull_row(global real_t *values, global const uchar *holes, ulong first, uint width, uint height,
              global const real_t *coarse, ulong coarse_first, uint image, uint y, uint from, uint step)
{
    const uint coarse_width = (width + 1) / 2, coarse_height = (height + 1) / 2;
    const int beside = clamp((int)y / 2 + (y % 2 ? 1 : -1), 0, (int)coarse_height - 1);
    global const real_t *level = coarse + coarse_first + (ulong)image * coarse_width * coarse_height;
    global const real_t *near = level + (ulong)(y / 2) * coarse_width, *far = level + (ulong)beside * coarse_width;
    const ulong row = first + ((ulong)image * height + y) * width;
    for (uint run = RUN * from; run < width; run += RUN * step)
        if (has_hole(holes + row, run, width))
            for (uint x = run + (y + 1) % 2; x < min(run + RUN, width); x += 2)
                if (holes[row + x]) {
                    const uint u = x / 2, v = clamp((int)u + (x % 2 ? 1 : -1), 0, (int)coarse_width - 1);
                    values[row + x] = (9 * near[u] + 3 * (near[v] + far[u]) + far[v]) / 16;
                }
}

// Half a sweep of Gauss and Seidel's iteration: holes of one color get the mean of their neighbors, which are of the
// other color
void sweep_row(global real_t *values, global const uchar *holes, ulong first, uint width, uint height, uint color,
               uint image, uint y, uint from, uint step)
{
    const ulong row = first + ((ulong)image * height + y) * width;
    const bool above = y > 0, below = y + 1 < height;
    for (uint run = RUN * from; run < width; run += RUN * step)
        if (has_hole(holes + row, run, width))
            for (uint x = run + (y + color) % 2; x < min(run + RUN, width); x += 2)
                if (holes[row + x]) {
                    const ulong i = row + x;
                    const bool left = x > 0, right = x + 1 < width;
                    const real_t sum = (above ? values[i - width] : 0) + (below ? values[i + width] : 0) +
                                       (left ? values[i - 1] : 0) + (right ? values[i + 1] : 0);
                    values[i] = sum / (above + below + left + right);
                }
}

kernel void halve(global const real_t *values, global const uchar *holes, const ulong first, const uint width,
                  const uint height, global real_t *coarse, global uchar *coarse_holes, const ulong coarse_first)
{
    halve_row(values, holes, first, width, height, coarse, coarse_holes, coarse_first, get_global_id(2),
              get_global_id(1), get_global_id(0), get_global_size(0));
}

kernel void pull(global real_t *values, global const uchar *holes, const ulong first, const uint width,
                 const uint height, global const real_t *coarse, const ulong coarse_first)
{
    pull_row(values, holes, first, width, height, coarse, coarse_first, get_global_id(2), get_global_id(1),
             get_global_id(0), get_global_size(0));
}

kernel void sweep(global real_t *values, global const uchar *holes, const ulong first, const uint width,
                  const uint height, const uint color)
{
    sweep_row(values, holes, first, width, height, color, get_global_id(2), get_global_id(1), get_global_id(0),
              get_global_size(0));
}

// Push and pull from a small level on, as launches would take longer than the work: coarser levels get so many sweeps
// each, as does this one.
kernel void coarsest(global real_t *values, global uchar *holes, const ulong first, const uint width,
                     const uint height, const uint sweeps)
{
    const uint image = get_global_id(2), images = get_global_size(2), from = get_local_id(0), step = get_local_size(0);
    uint widths[LEVELS] = {width}, heights[LEVELS] = {height}, level = 0;
    ulong firsts[LEVELS] = {first};
    for (; widths[level] > 1 || heights[level] > 1; level++) {
        const uint w = widths[level], h = heights[level];
        widths[level + 1] = (w + 1) / 2;
        heights[level + 1] = (h + 1) / 2;
        firsts[level + 1] = firsts[level] + (ulong)images * w * h;
        for (uint y = 0; y < heights[level + 1]; y++)
            halve_row(values, holes, firsts[level], w, h, values, holes, firsts[level + 1], image, y, from, step);
        barrier(CLK_GLOBAL_MEM_FENCE);
    }
    while (level-- > 0) {
        const uint w = widths[level], h = heights[level];
        for (uint y = 0; y < h; y++)
            pull_row(values, holes, firsts[level], w, h, values, firsts[level + 1], image, y, from, step);
        for (uint turn = 0; turn < 2 * sweeps; turn++) {
            barrier(CLK_GLOBAL_MEM_FENCE);
            for (uint y = 0; y < h; y++)
                sweep_row(values, holes, firsts[level], w, h, turn % 2, image, y, from, step);
        }
        barrier(CLK_GLOBAL_MEM_FENCE);
    }
}
