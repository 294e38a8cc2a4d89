// Product: products of matrices along an axis (fftfilter/filters/volumes.py), and the pixels of what they make.
//
//     made[b, m, n] = sum over k of matrix[k, m] values[b, k, n]      k along the axis, n along those behind it
//
// A work-group has TILE_M x TILE_N of them, STEP of k at a time in local memory; the next ones wait in registers.
//
// Launch   (n/TILE_N x m/TILE_M x 256, b) work-items in groups of 256; those of the same values follow each other
// Reads    values[b][k][n], n -> coalesced; of the last axis values[n][k], k -> STEP at a time
// Writes   made[b][m][n], n -> coalesced; of the last axis made[n][m]
//
// needs: fused/gpu/attributes.cl ramp.cl
//
// -D LOAD_VALUE=uchar | ... | double     the type of the values: that of pixels in the first product, else REAL
// -D LOAD_PIXEL=uchar | ... | double     the type of the volume's pixels, and -D STORE_PIXEL that of the output's
// -D PER_ITEM=4 | 8                      rows of the tile that a work-item has
// -D ALONG_LAST=0 | 1                    1: along the last axis, where n counts the lines
// -D IS_FIRST=0 | 1                      1: values are less their base, one number or one for each n
// -D HAS_GAINS=0 | 1                     1: what is made is multiplied by gains, along one axis one for each m
// -D IS_LAST=0 | 1                       1: the part of the pixels is added that went around the transforms

#if !defined LOAD_VALUE || !defined LOAD_PIXEL || !defined STORE_PIXEL || !defined PER_ITEM
#error "volumes/product.cl: -D LOAD_VALUE, LOAD_PIXEL, STORE_PIXEL or PER_ITEM is missing"
#endif

// Work-items of a group, and the sides of a tile; PITCH: written along k and read along n, it meets few banks
#define GROUP 256
#define STEP 8
#define TILE_M (16 * PER_ITEM)
#define TILE_N 128
#define PITCH (TILE_N + 4)
typedef PASTE(REAL, 4) real4_t;
// Where a number is, of `across` along the axis and `beside` behind it
#define AT(along, n, across, beside) (ALONG_LAST ? (size_t)(n) * (across) + (along) : (size_t)(along) * (beside) + (n))

// What a work-item holds of the next STEP x TILE_N values and STEP x TILE_M numbers of the matrix
INLINE void fetch(real_t *own, real_t *own_matrix, global const LOAD_VALUE *values, global const real_t *matrix,
                  const real_t base, const uint first, const size_t left, const uint top, const uint length,
                  const size_t beside, const uint kept)
{
    UNROLL
    for (uint i = 0; i < STEP * TILE_N / GROUP; i++) {
        const uint id = get_local_id(0) + i * GROUP, k = first + (ALONG_LAST ? id % STEP : id / TILE_N);
        const size_t n = left + (ALONG_LAST ? id / STEP : id % TILE_N);
        own[i] = k < length && n < beside ? values[AT(k, n, length, beside)] - base : 0;
    }
    UNROLL
    for (uint i = 0; i < STEP * TILE_M / GROUP; i++) {
        const uint id = get_local_id(0) + i * GROUP, k = first + id / TILE_M, m = top + id % TILE_M;
        own_matrix[i] = k < length && m < kept ? matrix[(size_t)k * kept + m] : 0;
    }
}

// One row of sums of the tile, of which the numbers are in two parts
#define ADD(row, wave) \
    sums[row][0] = mad((real4_t)(wave), near, sums[row][0]), sums[row][1] = mad((real4_t)(wave), far, sums[row][1])

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void volume_product(global real_t *made, global const LOAD_VALUE *values, global const real_t *matrix,
                global const real_t *gains, global const LOAD_PIXEL *pixels, global const real_t *base,
                global uint *found, const uint bases, const uint length, const uint kept, const ulong beside,
                const real_t beyond)
{
    local real4_t tiles[STEP * PITCH / 4], matrix_tiles[STEP * TILE_M / 4];
    local real_t *tile = (local real_t *)tiles, *matrix_tile = (local real_t *)matrix_tiles;
    const uint tiles_down = (kept + TILE_M - 1) / TILE_M, top = get_group_id(0) % tiles_down * TILE_M;
    const size_t left = get_group_id(0) / tiles_down * TILE_N;
    const uint across = get_local_id(0) % 16, down = get_local_id(0) / 16;
    values += get_group_id(1) * (length * beside);
    made += get_group_id(1) * (kept * beside);
    pixels += get_group_id(1) * (kept * beside);  // as large as what the last product makes

    real4_t sums[PER_ITEM][2] = {{0}};
    real_t own[STEP * TILE_N / GROUP], own_matrix[STEP * TILE_M / GROUP];
    const size_t fetched = left + get_local_id(0) % TILE_N;
    const real_t own_base = IS_FIRST ? base[bases > 1 && fetched < beside ? fetched : 0] : 0;  // of one n alone
    fetch(own, own_matrix, values, matrix, own_base, 0, left, top, length, beside, kept);
    for (uint first = 0; first < length; first += STEP) {
        UNROLL
        for (uint i = 0; i < STEP * TILE_N / GROUP; i++) {
            const uint id = get_local_id(0) + i * GROUP;
            tile[ALONG_LAST ? id % STEP * PITCH + id / STEP : id / TILE_N * PITCH + id % TILE_N] = own[i];
        }
        UNROLL
        for (uint i = 0; i < STEP * TILE_M / GROUP; i++)
            matrix_tile[get_local_id(0) + i * GROUP] = own_matrix[i];
        barrier(CLK_LOCAL_MEM_FENCE);
        if (first + STEP < length)
            fetch(own, own_matrix, values, matrix, own_base, first + STEP, left, top, length, beside, kept);
        UNROLL
        for (uint k = 0; k < STEP; k++) {
            local const real4_t *numbers = tiles + k * (PITCH / 4) + across, *waves = matrix_tiles + k * (TILE_M / 4) + down;
            const real4_t near = numbers[0], far = numbers[16];
            UNROLL
            for (uint i = 0; i < PER_ITEM / 4; i++) {
                const real4_t wave = waves[16 * i];
                ADD(4 * i, wave.x);
                ADD(4 * i + 1, wave.y);
                ADD(4 * i + 2, wave.z);
                ADD(4 * i + 3, wave.w);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }

    real_t most = 0, farthest = 0;
    UNROLL
    for (uint i = 0; i < PER_ITEM; i++) {
        const uint m = top + i / 4 * 64 + 4 * down + i % 4;
        UNROLL
        for (uint j = 0; j < 8; j++) {
            const size_t n = left + j / 4 * 64 + 4 * across + j % 4;
            const real4_t four = sums[i][j / 4];
            real_t value = j % 4 == 0 ? four.x : j % 4 == 1 ? four.y : j % 4 == 2 ? four.z : four.w;
            if (m < kept && n < beside) {
                const size_t place = AT(m, n, kept, beside);
#if HAS_GAINS
                value *= gains[ALONG_LAST ? place : m];
#endif
#if IS_LAST
                const size_t around = bases > 1 ? n : 0;
                const real_t away = pixels[place] - base[around];
                value += beyond * away;
                value += base[bases + around];
                most = fmax(most, fabs(value));
                farthest = fmax(farthest, fabs(away));
#endif
                made[place] = value;
            }
        }
    }
#if IS_LAST
    local uint own_found[2];
    if (get_local_id(0) < 2)
        own_found[get_local_id(0)] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_max(own_found, as_uint((float)most));
    atomic_max(own_found + 1, as_uint((float)farthest));
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) < 2)
        atomic_max(found + get_local_id(0), own_found[get_local_id(0)]);
#endif
}

// Maps values to pixels on a ramp, and counts how many are clipped, and of every so many turns how many are undecided.
kernel void volume_pixels(global STORE_PIXEL *output, global const real_t *values, global const ramp_t *ramps,
                              global uint *found, const ulong size, const uint every)
{
    const ramp_t ramp = ramps[0];
    uint clipped = 0, near = 0, turn = get_group_id(0);
    for (size_t i = get_global_id(0); i < size; i += get_global_size(0), turn += get_num_groups(0)) {
        const real_t value = on_ramp(values[i], ramp), level = level_on(value, ramp);
        clipped += ramp.counts && (level < ramp.below || level >= ramp.above);
        near += turn % every == 0 && from_edge(level, ramp) < ramp.undecided;
        output[i] = (STORE_PIXEL)pixel_on(value, level, ramp);
    }
    if (clipped)
        atomic_add(found + 2, clipped);
    if (near)
        atomic_add(found + 3, near * every);
}
