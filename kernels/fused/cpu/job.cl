// Job: what all steps of the filter have to know, as the host fills it in (the same fields: fused/cpu/pipeline.py).

// A stage: butterflies of `radix` numbers, `span` apart. Among the spin factors, its own begin at `spin`, the roots of
// a prime radix at `roots`.
typedef struct {
    uint radix, span, spin, roots;
} stage_t;

// The transforms along one axis: the image has `points`, a transform has `length`, which is more where Bluestein's
// convolution does it; then chirp and filter are where its tables begin among the spin factors. The first
// `whole_stages` are done on the whole, the others part after part (transform.cl).
typedef struct {
    uint points, length, stage_count, whole_stages, chirp, filter;
    stage_t stages[24];
} axis_t;

// Rows of the image are `pitch` pixels apart, strips `strip_stride` numbers; the last of the `strips` begins at column
// `last_start`. A task of the first step reads `strips_per_task`. A worker's work space has `workspace` numbers, the last
// `gains` of them for gains. `row_groups` of VECTOR rows are filtered, `zero_rows` cleared. A task of the last step
// writes `strips_written` in one of `bands` of rows, to pixels of `pixel_bytes`; where their histogram is wanted, every `counted_row`-th row and `counted_column`-th column count. `shape` is the mask's
// (mask.cl); `has_inner` is 1 where there are two cutoffs, `is_complement` where the filter is 1 minus what passes,
// `is_twofold` where a mirrored image is transformed back twice (mirrored_mask.cl). `row_scale` undoes the scale of the
// rows' transforms and the doubling of transpose.cl. `back` is H(0), as which the ground comes back, times the scale of
// the columns, which the values have, too, and which the ramps undo.
typedef struct {
    uint count, pitch, strips, last_start, strip_stride, strips_per_task, row_groups, zero_rows, workspace;
    uint gains, strips_written, bands, pixel_bytes, one_scale, counted_row, counted_column, shape, has_inner, is_complement, is_twofold;
    float outer_falloff, inner_falloff, row_scale, back;
    axis_t columns, rows;
} job_t;
