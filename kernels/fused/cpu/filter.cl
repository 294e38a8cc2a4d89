// Filter: runs all steps in one launch, so that no compute unit sleeps between them. Waking one takes as long as
// filtering a small image.
//
// Each compute unit has one work-item, a worker. In each step a worker does its own tasks, neighbors one after the
// other, then tasks that other workers have not begun, and goes on when all are done. A worker waits only for tasks
// that others have begun, and always finishes its own. So no worker waits forever, however many there are and whenever
// they start. Each image of a stack goes through the steps by itself, unless all have one scale.
//
// Launch   (workers) work-groups of one work-item
// Reads    images
// Writes   pixels; largest and deviation, one a strip; counted, one a band; extremes, one a picture; z between the
//          steps; the ramps if there are bins
// Scratch  x, a work space for each worker; counts, COUNTERS COPIES times `bins` and a vector for each picture, all 0
//          before and after
//
// Layout of `progress`: the number of workers that have ended; then, for each step of each picture, the number of
// tasks that are done and, for each worker, the number of its own that are taken. All are 0 before and after. A launch
// runs the steps first_step to end_step - 1: all of them, or one to be timed.
//
// needs: fused/cpu/columns.cl fused/cpu/rows.cl fused/cpu/histogram.cl fused/cpu/quantize.cl

// -D BLUESTEIN=0 | 1    1 where an axis may be transformed by a convolution: its length is more than its points

// Steps of each picture
#define STEPS 6

// Calls a task, or its twin with a convolution if the axis is longer than its points.
#if BLUESTEIN
#define TASK(axis, task, ...) \
    if (axis.length == axis.points) \
        task(__VA_ARGS__); \
    else \
        task##_bluestein(__VA_ARGS__)
#else
#define TASK(axis, task, ...) task(__VA_ARGS__)
#endif

// Spin-wait hint for x86
#if defined __clang__ && defined __x86_64__
#define REST __builtin_ia32_pause()
#else
#define REST
#endif

kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void filter(volatile global uint *progress, global const params_t *params, global vector_t *z, global vector_t *x,
            global const LOAD_PIXEL *image, global char *pixels, global float *deviation, global float *largest,
            global const float2 *column_twiddles, global const float2 *row_twiddles, global const uint *places,
            global const across_t *across, global const down_t *down, global const vector_t *gains,
            global const vector_t *odd_gains, global const twins_t *twins, global const turn_t *turns,
            global ramp_t *ramps, global uint2 *counted, global float2 *extremes, global const wanted_t *wanted,
            global uint *counts, const uint bins, const uint first_step, const uint end_step)
{
    const uint pictures = params->one_scale ? 1 : params->count, images = params->count / pictures;
    const uint tasks[STEPS] = {(params->strips + params->strips_per_task - 1) / params->strips_per_task * images,
                               params->row_groups * images, params->strips * images,
                               bins ? counters_of(params) * images : 0, bins ? images : 0,
                               tasks_of_quantize(params) * images};
    const uint workers = get_num_groups(0), worker = get_group_id(0);
    const mask_tables_t tables = {across, down, gains, odd_gains, twins, turns};
    x += 2 * (size_t)params->workspace * (1 + params->needs_two_inverses) * worker;

    for (uint picture = 0; picture < pictures; ++picture) {
        global uint *own_counts = counts + COUNTERS * COPIES * (bins + VECTOR) * (size_t)picture;
        for (uint step = first_step; step < end_step; ++step) {
            if (tasks[step] == 0)
                continue;
            volatile global uint *done = progress + 1 + (picture * STEPS + step) * (1 + workers), *taken = done + 1;
            const uint each = tasks[step] / images;
            for (uint other = 0; other < workers; ++other) {
                const uint owner = (worker + other) % workers;
                const uint first = (ulong)tasks[step] * owner / workers;
                const uint count = (uint)((ulong)tasks[step] * (owner + 1) / workers) - first;
                for (uint next = atomic_inc(taken + owner); next < count; next = atomic_inc(taken + owner)) {
                    const uint index = (first + next) % each;
                    const size_t i = picture * images + (first + next) / each;
                    switch (step) {
                    case 0:
                        TASK(params->columns, columns_forward, params, z, x, image, deviation, column_twiddles,
                             places, i, index);
                        break;
                    case 1:
                        TASK(params->rows, rows, params, z, x, row_twiddles, places, tables, i, index);
                        break;
                    case 2:
                        TASK(params->columns, columns_inverse, params, z, x, image, largest, column_twiddles, i, index);
                        break;
                    case 3:
                        if (i == picture * images) // all images of a picture count together
                            histogram(params, z, largest, own_counts, bins, i, images, index);
                        break;
                    case 4:
                        if (i == picture * images)
                            ramp_of_histogram(params, ramps + picture, *wanted, largest, own_counts, bins, i);
                        break;
                    case 5:
                        quantize(params, pixels, z, largest, deviation, ramps, counted, extremes, i, index);
                        break;
                    }
                    mem_fence(CLK_GLOBAL_MEM_FENCE);
                    atomic_inc(done);
                }
            }
            if (step + 1 < end_step)
                while (*done < tasks[step])
                    REST;
            mem_fence(CLK_GLOBAL_MEM_FENCE);
        }
    }
    if (atomic_inc(progress) == workers - 1)
        for (uint i = 0; i < 1 + pictures * STEPS * (1 + workers); ++i)
            progress[i] = 0;
}
