// Parameters: all steps of the filter read them. The host fills in the same fields (fused/cpu/program.py).

// A stage: butterflies of `radix` numbers, `span` apart. Among the twiddle factors, its own begin at `twiddles`, the
// roots of a prime radix at `roots`.
typedef struct {
    uint radix, span, twiddles, roots;
} stage_t;

// The transforms along one axis: the image has `points`, a transform has `length`, which is more where Bluestein's
// convolution does it; then chirp and filter are where its tables begin among the twiddle factors. The first
// `whole_stages` are done on the whole, the others part after part (transform.cl).
typedef struct {
    uint points, length, stage_count, whole_stages, chirp, filter;
    stage_t stages[24];
} axis_t;

// All numbers are of one image, but for `count`.
typedef struct {
    uint count;              // images of the stack
    uint pitch;              // pixels from one row of the image to the next
    uint strips;             // of 2 VECTOR columns each
    uint last_start;         // the column at which the last strip begins
    uint strip_stride;       // rows from one strip to the next, of two vectors each; some are left free
    uint strips_per_task;    // of the first step
    uint row_groups;         // of VECTOR rows that are filtered
    uint zero_rows;          // rows that are cleared
    uint workspace;          // numbers of a worker's work space,
    uint gains;              // the last of which are for gains
    uint strips_written;     // by a task of the last step,
    uint bands;              // in one of these bands of rows,
    uint pixel_bytes;        // to pixels of this size
    uint one_scale;          // 1 where all images have one
    uint counted_row;        // of a histogram every n-th row counts,
    uint counted_column;     // and every n-th column
    uint decided_row;        // of every n-th row it is counted how many levels are undecided (ramp.cl)
    uint shape;              // of the mask (mask.cl)
    uint has_inner;          // 1 where there are two cutoffs
    uint is_complement;      // 1 where the filter is 1 minus what passes
    uint needs_two_inverses; // 1 where a mirrored image is transformed back twice (mirrored_mask.cl)
    float outer_falloff;     // the order or the width of the outer cutoff's edge,
    float inner_falloff;     // and of the inner one's
    float row_scale;         // undoes the scale of the rows' transforms and the doubling of transpose.cl
    float column_scale;      // undoes the scale of the columns' transforms
    float back;              // H(0), by which the offset comes back, times the columns' scale, which the ramps undo
    axis_t columns, rows;
} params_t;
