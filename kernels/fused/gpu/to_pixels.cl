// To pixels: makes pixels of the inverse rows' values while these are still in registers, once all groups have theirs.
//
// A group waits for the others only if all inverse rows have begun: then all are running and will finish. Otherwise it
// stores its values in memory and goes on, and a group that has waited makes pixels of them. The last group always
// waits. So no group waits forever, however few run at a time and in whatever order they start.
//
// Layout of `progress`: tasks taken, groups that have left, tasks done of each step, groups whose values are in memory,
// how many of these were taken, and which they are. All but the last are 0 before and after.
//
// needs: fused/gpu/inverse_rows.cl fused/gpu/quantize.cl

// The steps, in their order in `progress`
#define ROW_STEP 0
#define COLUMN_STEP 1
#define INVERSE_STEP 2
#define HISTOGRAM_STEP 3
#define RAMP_STEP 4
#define QUANTIZE_STEP 5
#define STEPS 6
// Layout of `progress`
#define TAKEN 0
#define LEFT 1
#define DONE 2
#define IN_MEMORY (DONE + STEPS)
#define TAKEN_AGAIN (IN_MEMORY + 1)
#define LIST (TAKEN_AGAIN + 1)
#define NONE 0xffffffffu
// A level that is far from any edge
#define DECIDED 0.5f

// Pixels of a picture, and groups that transform its rows
#define SIZE ((size_t)WIDTH * HEIGHT)
#define ROW_GROUPS ((PAIRS + BATCH - 1) / BATCH)

// A group announces its values only after they are written, and reads those of others only after they are announced.
// OpenCL 1.2 promises that of mem_fence within a group only, and NVIDIA's compiler takes it at its word.
#ifdef __NV_CL_C_VERSION
#define FENCE asm volatile("membar.gl;" ::: "memory")
#else
#define FENCE mem_fence(CLK_GLOBAL_MEM_FENCE)
#endif

// One work-item of a group tells the others that a task is done.
INLINE void say_done(volatile global uint *progress, const uint step)
{
    FENCE;
    atomic_inc(progress + DONE + step);
}

// One work-item of a group waits until so many tasks are done.
INLINE void wait_for(volatile global const uint *done, const uint tasks)
{
    while (*done < tasks)
        ;
    FENCE;
}

// Pixels of the values of rows p and p + PAIRS, which are in registers; how many are clipped. One of EVERY(SIZE) values
// in a work-item's registers is looked at, another one in each work-item.
INLINE uint pixels_of_rows(global pixels_t *output, const complex_t *v, const uint p, const ramp_t ramp,
                           global uint *undecided)
{
    const uint step = LENGTH / SPECTRUM_RADIX;
    const size_t upper = (size_t)pixel_at(p, HEIGHT) * WIDTH, lower = (size_t)pixel_at(p + PAIRS, HEIGHT) * WIDTH;
    const bool alone = IS_ALONE(p);
    uint clipped = 0, near = 0;
    if (p < PAIRS)
        FOR_OWN(own_item(INNER), SPECTRUM_RADIX, b, t) {
            const uint chosen = (t + p) % EVERY(SIZE);
            real_t seen = DECIDED;
            UNROLL
            for (uint n = 0; n < 2 * SPECTRUM_RADIX; n++) {
                const uint q = n / 2, row = n % 2;
                if ((!BLUESTEIN || t + q * step < POINTS) && !(row && alone)) {
                    const complex_t both = v[b * SPECTRUM_RADIX + q];
                    const real_t value = on_ramp(row ? both.x : both.y, ramp), level = level_on(value, ramp);
                    if (ramp.counts)
                        clipped += count_of(level, ramp.below, ramp.above);
                    seen = n % EVERY(SIZE) == chosen ? level : seen;
                    *PIXEL_OF(output + (row ? lower : upper), t, q * step) = CONVERT(pixel_on(value, level, ramp));
                }
                if (n % EVERY(SIZE) == EVERY(SIZE) - 1 || n == 2 * SPECTRUM_RADIX - 1) {
                    near += count_of(from_edge(seen, ramp), ramp.undecided, 1);
                    seen = DECIDED;
                }
            }
        }
    add_undecided(undecided, near, EVERY(SIZE));
    return clipped;
}

// What the task of the inverse rows leaves
#define AS_VALUES 0
#define AS_DOUBTFUL_VALUES 1
#define AS_PIXELS 2

// The task of the inverse rows. Values become pixels if `begun` tasks have been taken, so that all inverse rows are on
// their way. What may be rounding noise is looked at without the values at hand: they go to memory.
INLINE uint values_or_pixels(global pixels_t *output, global real_t *values, global const complex_t *spectrum,
                             global const complex_t *tables, global uint *largest,
                             volatile global uint *progress, const uint support, const real_t dc,
                             global const ramp_t *ramps, const real_t range, global const LOAD_PIXEL *image,
                             const uint group, const uint task, const uint begun, const uint tasks,
                             local exchanged_t *x, local uint *found)
{
    complex_t v[PER_ITEM];
    const bool is_first = get_local_id(0) == 0;
    const uint p = group * BATCH + own_transform(INNER);
    filtered_rows(v, spectrum, tables, support, dc, image, group, x);
    keep_largest(largest, visited_rows(values, v, p, 0, false), found);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (is_first) {
        *found = progress[TAKEN] >= begun;
        if (*found) {
            say_done(progress, INVERSE_STEP);
            wait_for(progress + DONE + INVERSE_STEP, tasks);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    const bool waits = *found;
    const real_t most = as_float(*largest);
    if (waits && most > ramps->noise * range) {
        keep_sum(largest + 1, pixels_of_rows(output, v, p, ramp_for(*ramps, most, false), largest + 2), found);
        return AS_PIXELS;
    }
    visited_rows(values, v, p, 0, true);
    if (is_first && !waits)
        progress[LIST + atomic_inc(progress + IN_MEMORY)] = task;
    return waits ? AS_DOUBTFUL_VALUES : AS_VALUES;
}

// The same of all rows of a group, whose values are in memory
INLINE uint pixels_of_group(global pixels_t *output, global const real_t *values, const uint group, const ramp_t ramp,
                            global uint *undecided)
{
    uint clipped = 0;
    for (uint i = 0; i < 2 * BATCH; i++) {
        const uint p = group * BATCH + i % BATCH, row = p + i / BATCH * PAIRS;
        if (p < PAIRS && row < HEIGHT) {
            const size_t start = (size_t)pixel_at(row, HEIGHT) * WIDTH;
            VALUE fetched[FETCHED];
            fetch(fetched, values + start, get_local_id(0), WIDTH, GROUP);
            clipped += quantize(output + start, values + start, fetched, WIDTH, ramp, GROUP, row, EVERY(SIZE),
                                undecided);
        }
    }
    return clipped;
}

// Makes pixels of values in memory: first of those of the group `in_memory`, unless it is NONE, and if this group has
// waited of what others have left there.
INLINE void pixels_from_memory(global pixels_t *output, global const real_t *values, global const LOAD_PIXEL *image,
                               global uint *largest, volatile global uint *progress, const uint pictures,
                               const uint one_scale, global const ramp_t *ramps, const real_t range, uint in_memory,
                               const bool has_waited, local uint *found)
{
    while (has_waited || in_memory != NONE) {
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        if (in_memory == NONE) {
            if (get_local_id(0) == 0) {
                const uint next = atomic_inc(progress + TAKEN_AGAIN);
                *found = next < progress[IN_MEMORY] ? progress[LIST + next] : NONE;
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            in_memory = *found;
            if (in_memory == NONE)
                break;
        }
        const size_t picture = in_memory / ROW_GROUPS, own = one_scale ? 0 : picture;
        const real_t most = as_float(largest[FOUND * own]);
        const bool noise = is_noise(image, most, one_scale, ramps[own].noise, range, HEIGHT, WIDTH, picture, pictures,
                                    found);
        const uint clipped = pixels_of_group(output + picture * SIZE, values + picture * SIZE, in_memory % ROW_GROUPS,
                                             ramp_for(ramps[own], most, noise), largest + FOUND * own + 2);
        keep_sum(largest + FOUND * own + 1, clipped, found);
        in_memory = NONE;
    }
}

// What a group does at its end: the last one clears `progress`.
INLINE void leave(volatile global uint *progress)
{
    if (get_local_id(0) == 0 && atomic_inc(progress + LEFT) == get_num_groups(0) - 1)
        for (uint i = 0; i < LIST; i++)
            progress[i] = 0;
}
