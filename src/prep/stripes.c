/* Removal of ring artefacts, which are stripes along the angles of sinograms (all views of one
 * detector row): by sorting (Vo et al. 2018), by wavelets (Muench et al. 2009), or by the methods
 * of offsets.c: fbp_stripes_remove(). Also a test whether a sinogram has stripes
 * (fbp_stripes_found()), and the median of an array.
 * Used by: pipeline/, prep/. */
#include "prep/prep.h"

#include "base/math.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Mirror an index beyond the ends of [0, n): the indices … -2 -1 0 … n-1 n n+1 … become … 1 0 0 …
 * n-1 n-1 n-2 …. */
static size_t mirrored(ptrdiff_t i, size_t n)
{
    const ptrdiff_t period = 2 * (ptrdiff_t)n;
    /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): a row has columns */
    const ptrdiff_t at = (i % period + period) % period;

    return (size_t)(at < (ptrdiff_t)n ? at : period - 1 - at);
}

/*
 * Sorting: N. T. Vo, R. C. Atwood and M. Drakopoulos, Opt. Express 26, 28396 (2018), algorithm 3.
 * The samples of every column are sorted, each rank is smoothed along the columns by a median, and
 * the samples return to their views.  Neighbouring columns have nearly the same values, so the k-th
 * largest of one is nearly the k-th largest of the next; a difference comes from the pixel.
 */

enum { COLUMNS = 16 }; /* sorted together: a cache line of floats */

struct entry {
    uint32_t key, view;
};

/* Scratch memory of one sinogram. */
struct sorting_room {
    float *ranks;        /* [rank][column] */
    uint32_t *views;     /* [column][rank]: view of a sorted sample */
    float *block;        /* [COLUMNS][view], later [COLUMNS][rank] */
    struct entry *a, *b; /* [view] */
    /* line: samples of one rank in all columns; window: sorted samples of the running median */
    float *line, *window;
};

/* Lay out the scratch memory of ring removal by sorting; returns its size [bytes].  memory NULL:
 * computes only the size. */
static size_t sorting_lay_out(const struct fbp_stripes *s, void *memory, struct sorting_room *r)
{
    const size_t n = s->n_views * s->n_columns;
    size_t used = 0;

    r->ranks = fbp_carve(memory, &used, n * sizeof *r->ranks);
    r->views = fbp_carve(memory, &used, n * sizeof *r->views);
    r->block = fbp_carve(memory, &used, COLUMNS * s->n_views * sizeof *r->block);
    r->a = fbp_carve(memory, &used, s->n_views * sizeof *r->a);
    r->b = fbp_carve(memory, &used, s->n_views * sizeof *r->b);
    r->line = fbp_carve(memory, &used, s->n_columns * sizeof *r->line);
    r->window = fbp_carve(memory, &used, s->size * sizeof *r->window);
    return used;
}

/* Stable sort by one byte of the keys. */
static void sort_by_byte(const struct entry *in, size_t n, unsigned shift, struct entry *out)
{
    size_t at[256] = {0}, sum = 0;

    for (size_t i = 0; i < n; i++)
        at[in[i].key >> shift & 255]++;
    for (size_t i = 0; i < 256; i++) {
        const size_t count = at[i];
        at[i] = sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++)
        out[at[in[i].key >> shift & 255]++] = in[i];
}

/* Replace a row by its running median over s->size columns; samples of the window stay sorted. */
static void smooth(const struct fbp_stripes *s, const struct sorting_room *r, float *row)
{
    const size_t n = s->n_columns, m = s->size;
    const ptrdiff_t left = (ptrdiff_t)(m / 2), right = (ptrdiff_t)(m - 1 - m / 2);
    float *w = r->window;

    memcpy(r->line, row, n * sizeof *row);
    for (size_t i = 0; i < m; i++) {
        const float x = r->line[mirrored((ptrdiff_t)i - left, n)];
        size_t k = i;
        for (; k > 0 && w[k - 1] > x; k--)
            w[k] = w[k - 1];
        w[k] = x;
    }
    for (size_t c = 0;; c++) {
        row[c] = w[m / 2];
        if (c + 1 == n)
            return;
        const float old = r->line[mirrored((ptrdiff_t)c - left, n)];
        const float x = r->line[mirrored((ptrdiff_t)c + 1 + right, n)];
        size_t i = 0;
        while (i + 1 < m && w[i] != old)
            i++;
        for (; i + 1 < m && w[i + 1] < x; i++)
            w[i] = w[i + 1];
        for (; i > 0 && w[i - 1] > x; i--)
            w[i] = w[i - 1];
        w[i] = x;
    }
}

static void remove_by_sorting(const struct fbp_stripes *s, float *sinogram, size_t stride,
                              void *scratch)
{
    const size_t n = s->n_views, nc = s->n_columns;
    struct sorting_room r;

    sorting_lay_out(s, scratch, &r);
    for (size_t c = 0; c < nc; c += COLUMNS) {
        const size_t end = c + COLUMNS < nc ? c + COLUMNS : nc;
        for (size_t k = 0; k < n; k++)
            for (size_t i = c; i < end; i++)
                r.block[(i - c) * n + k] = sinogram[k * stride + i];
        for (size_t i = c; i < end; i++) { /* sort by keys in the order of floats */
            float *column = r.block + (i - c) * n;
            for (size_t k = 0; k < n; k++) {
                uint32_t bits;
                memcpy(&bits, &column[k], sizeof bits);
                const uint32_t key = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
                r.a[k] = (struct entry){key, (uint32_t)k};
            }
            for (unsigned shift = 0; shift < 32; shift += 16) {
                sort_by_byte(r.a, n, shift, r.b);
                sort_by_byte(r.b, n, shift + 8, r.a);
            }
            for (size_t k = 0; k < n; k++) {
                const uint32_t key = r.a[k].key;
                const uint32_t bits = key & 0x80000000u ? key & 0x7fffffffu : ~key;
                memcpy(&column[k], &bits, sizeof bits);
                r.views[i * n + k] = r.a[k].view;
            }
        }
        for (size_t k = 0; k < n; k++)
            for (size_t i = c; i < end; i++)
                r.ranks[k * nc + i] = r.block[(i - c) * n + k];
    }
    for (size_t k = 0; k < n; k++)
        smooth(s, &r, r.ranks + k * nc);
    for (size_t c = 0; c < nc; c += COLUMNS) {
        const size_t end = c + COLUMNS < nc ? c + COLUMNS : nc;
        for (size_t k = 0; k < n; k++)
            for (size_t i = c; i < end; i++)
                r.block[(i - c) * n + r.views[i * n + k]] = r.ranks[k * nc + i];
        for (size_t k = 0; k < n; k++)
            for (size_t i = c; i < end; i++)
                sinogram[k * stride + i] = r.block[(i - c) * n + k];
    }
}

/*
 * Scaling filters by Daubechies' definition (Comm. Pure Appl. Math. 41, 909, 1988): H(z) is
 * (1 + 1/z)^N times the factor, with all roots inside the unit circle, of the polynomial
 * P(y) = sum_{k<N} C(N-1+k, k) y^k, y = (2 - z - 1/z) / 4; computed with 120 digits.
 */

/* The taps for N begin at index N (N - 1). */
// clang-format off
static const double DAUBECHIES_TAPS[] = {
    /* 1 */
    0.7071067811865476, 0.7071067811865476,
    /* 2 */
    0.48296291314453416, 0.8365163037378079, 0.2241438680420134, -0.12940952255126037,
    /* 3 */
    0.33267055295008263, 0.8068915093110925, 0.45987750211849154, -0.13501102001025458,
    -0.08544127388202666, 0.03522629188570953,
    /* 4 */
    0.2303778133088965, 0.7148465705529157, 0.6308807679298589, -0.027983769416859854,
    -0.18703481171909309, 0.030841381835560764, 0.0328830116668852, -0.010597401785069032,
    /* 5 */
    0.16010239797419293, 0.6038292697971896, 0.7243085284377729, 0.13842814590132074,
    -0.24229488706638203, -0.032244869584638375, 0.07757149384004572, -0.006241490212798274,
    -0.012580751999081999, 0.0033357252854737712,
    /* 6 */
    0.11154074335010947, 0.49462389039845306, 0.7511339080210954, 0.31525035170919763,
    -0.22626469396543983, -0.12976686756726194, 0.09750160558732304, 0.027522865530305727,
    -0.03158203931748603, 0.0005538422011614961, 0.004777257510945511, -0.0010773010853084796,
    /* 7 */
    0.07785205408500918, 0.3965393194819173, 0.7291320908462351, 0.4697822874051931,
    -0.14390600392856498, -0.22403618499387498, 0.07130921926683026, 0.08061260915108308,
    -0.03802993693501441, -0.01657454163066688, 0.01255099855609984, 0.0004295779729213665,
    -0.0018016407040474908, 0.00035371379997452024,
    /* 8 */
    0.05441584224310401, 0.31287159091429995, 0.6756307362972898, 0.5853546836542067,
    -0.015829105256349306, -0.2840155429615469, 0.0004724845739132828, 0.12874742662047847,
    -0.017369301001807547, -0.044088253930794755, 0.013981027917398282, 0.008746094047405777,
    -0.004870352993451574, -0.00039174037337694705, 0.0006754494064505693, -0.00011747678412476953,
    /* 9 */
    0.038077947363878345, 0.24383467461259034, 0.6048231236901112, 0.6572880780513005,
    0.13319738582500756, -0.2932737832791749, -0.09684078322297646, 0.14854074933810638,
    0.03072568147933338, -0.06763282906132997, 0.00025094711483145197, 0.022361662123679096,
    -0.004723204757751397, -0.00428150368246343, 0.0018476468830562265, 0.00023038576352319597,
    -0.0002519631889427101, 3.93473203162716e-05,
    /* 10 */
    0.026670057900555554, 0.1881768000776915, 0.5272011889317256, 0.6884590394536035,
    0.2811723436605775, -0.24984642432731538, -0.19594627437737705, 0.12736934033579325,
    0.09305736460357235, -0.07139414716639708, -0.029457536821875813, 0.033212674059341,
    0.0036065535669561697, -0.010733175483330575, 0.001395351747052901, 0.001992405295185056,
    -0.0006858566949597116, -0.00011646685512928545, 9.358867032006959e-05, -1.3264202894521244e-05,
    /* 11 */
    0.018694297761471083, 0.1440670211506245, 0.44989976435604534, 0.6856867749162006,
    0.41196436894790744, -0.16227524502749036, -0.27423084681794696, 0.0660435881966832,
    0.14981201246637849, -0.046479955116684187, -0.0664387856950252, 0.031335090219046076,
    0.020840904360181062, -0.0153648209062016, -0.0033408588730144454, 0.004928417656059041,
    -0.0003085928588151432, -0.0008930232506662646, 0.0002491525235528235, 5.4439074699368475e-05,
    -3.4634984186984996e-05, 4.49427427723651e-06,
    /* 12 */
    0.013112257957229518, 0.10956627282118515, 0.37735513521421266, 0.6571987225793071,
    0.5158864784278157, -0.04476388565377463, -0.3161784537527855, -0.023779257256069726,
    0.18247860592757967, 0.00535956967435215, -0.09643212009650708, 0.010849130255822185,
    0.04154627749508444, -0.01221864906974828, -0.012840825198300683, 0.00671149900879551,
    0.0022486072409952378, -0.0021795036186277603, 6.545128212509596e-06, 0.00038865306282093143,
    -8.850410920820432e-05, -2.4241545757030785e-05, 1.2776952219379767e-05, -1.529071758068511e-06,
    /* 13 */
    0.009202133538962367, 0.08286124387290278, 0.31199632216043804, 0.6110558511587877,
    0.5888895704312189, 0.08698572617964724, -0.31497290771138864, -0.12457673075081525,
    0.17947607942933985, 0.07294893365677717, -0.10580761818793433, -0.026488406475343694,
    0.05613947710028343, 0.0023799722540590786, -0.02383142071032365, 0.003923941448797416,
    0.007255589401617566, -0.0027619112346568622, -0.001315673911892299, 0.0009323261308672633,
    4.9251525126289464e-05, -0.0001651289885565055, 3.0678537579325496e-05, 1.0441930571408138e-05,
    -4.700416479360868e-06, 5.220035098454864e-07,
    /* 14 */
    0.006461153460087948, 0.0623647588493989, 0.2548502677926214, 0.5543056179408938,
    0.6311878491048568, 0.21867068775890652, -0.27168855227874805, -0.21803352999327605,
    0.1383952138648066, 0.1399890165844607, -0.08674841156816969, -0.07154895550404614,
    0.05523712625921604, 0.026981408307912916, -0.030185351540390634, -0.005615049530356959,
    0.01278949326633341, -0.000746218989268385, -0.0038496388680221874, 0.001061691085606762,
    0.0007080211542355279, -0.0003868319473129545, -4.1777245770372596e-05, 6.87550425269751e-05,
    -1.0337209184570774e-05, -4.389704901781394e-06, 1.7249946753678127e-06, -1.7871399683113592e-07,
    /* 15 */
    0.004538537361578899, 0.04674339489276627, 0.20602386398699574, 0.4926317717081396,
    0.6458131403574243, 0.3390025354547315, -0.19320413960914543, -0.28888259656696563,
    0.06528295284877282, 0.190146714007123, -0.039666176555790945, -0.1111209360372317,
    0.033877143923507685, 0.05478055058450761, -0.025767007328439964, -0.020810050169693083,
    0.015083918027835902, 0.005101000360407543, -0.006487734560315745, -0.00024175649076162427,
    0.0019433239803822114, -0.000373482354137617, -0.0003595652443624688, 0.00015589648992059973,
    2.5792699155318936e-05, -2.8133296266047814e-05, 3.36298718173758e-06, 1.8112704079405772e-06,
    -6.316882325881664e-07, 6.133359913305752e-08,
    /* 16 */
    0.003189220925347738, 0.034907714323673344, 0.16506428348885313, 0.4303127228460038,
    0.637356332083789, 0.4402902568863569, -0.08975108940248964, -0.3270633105279177,
    -0.027918208133028276, 0.2111906939471043, 0.027340263752716042, -0.1323883055638104,
    -0.006239722752474872, 0.07592423604427631, -0.007588974368857738, -0.03688839769173014,
    0.01029765964095597, 0.013993768859828731, -0.006990014563413916, -0.00364427962149839,
    0.003128023381206269, 0.00040789698084971285, -0.0009410217493595676, 0.00011424152003872239,
    0.00017478724522533817, -6.103596621410936e-05, -1.3945668988208893e-05, 1.1336608661276258e-05,
    -1.0435713423116066e-06, -7.363656785451205e-07, 2.3087840868575457e-07, -2.109339630100743e-08,
    /* 17 */
    0.0022418070010373128, 0.025985393703606044, 0.1312149033078244, 0.37035072415264114,
    0.6109966156846228, 0.5183157640569378, 0.027314970403293636, -0.32832074836396175,
    -0.1265997522158827, 0.197310589565011, 0.10113548917747027, -0.1268156917782863,
    -0.05709141963167693, 0.08110598665416088, 0.022312336178103798, -0.04692243838926974,
    -0.0032709555358192938, 0.02273367658394627, -0.003042989981354637, -0.008602921520322855,
    0.0029679966915260947, 0.0023012052421535457, -0.0014368453048029762, -0.00032813251940983797,
    0.0004394654277686437, -2.5610109566548458e-05, -8.204803202453391e-05, 2.3186813798745952e-05,
    6.9906009850767515e-06, -4.505942477222988e-06, 3.0165496099945573e-07, 2.957700933316857e-07,
    -8.42394844600268e-08, 7.2674929685616085e-09,
    /* 18 */
    0.0015763102184407605, 0.019288531724146376, 0.10358846582242359, 0.3146789413370317,
    0.5718268077666072, 0.5718016548886513, 0.14722311196992816, -0.29365404073655876,
    -0.21648093400514298, 0.14953397556537779, 0.1670813127632574, -0.09233188415084628,
    -0.10675224665982849, 0.06488721621190545, 0.057051247738536884, -0.044526141902982326,
    -0.023733210395860002, 0.02667070592647059, 0.006262167954305707, -0.013051480946612001,
    0.00011863003385811746, 0.004943343605466738, -0.0011187326669924971, -0.0013405962983361066,
    0.0006284656829651457, 0.0002135815619103407, -0.00019864855231174796, -1.5359171235347246e-07,
    3.7412378807400385e-05, -8.520602537446696e-06, -3.332634478885822e-06, 1.7687129836276155e-06,
    -7.691632689885177e-08, -1.1760987670282317e-07, 3.068835863045175e-08, -2.5079344549485983e-09,
    /* 19 */
    0.0011086697631817106, 0.014281098450764397, 0.08127811326545956, 0.26438843174089677,
    0.5244363774646549, 0.6017045491275379, 0.26089495265103885, -0.22809139421548263,
    -0.28583863175582624, 0.07465226970810326, 0.21234974330627848, -0.03351854190230288,
    -0.1427856950387366, 0.027584350625628667, 0.08690675555581223, -0.02650123625012304,
    -0.04567422627723091, 0.02162376740958505, 0.019375549889176127, -0.013988388678535142,
    -0.005866922281012175, 0.007040747367105243, 0.0007689543592575484, -0.002687551800701582,
    0.00034180865345859575, 0.0007358025205054352, -0.000260676135678628, -0.00012460079173415878,
    8.711270467219923e-05, 5.105950487073886e-06, -1.6640176297154945e-05, 3.0109643162965265e-06,
    1.531931476691193e-06, -6.862755657769143e-07, 1.4470882987978445e-08, 4.6369377757826045e-08,
    -1.1164020670358259e-08, 8.666848838997619e-10,
    /* 20 */
    0.0007799536136668463, 0.010549394624950399, 0.06342378045908152, 0.21994211355139703,
    0.4726961853109017, 0.6104932389385939, 0.36150229873933104, -0.13921208801148388,
    -0.32678680043403496, -0.016727088309077008, 0.22829105081991632, 0.0398502464577712,
    -0.15545875070726795, -0.024716827338613585, 0.10229171917444256, 0.005632246857307436,
    -0.06172289962468046, 0.005874681811811827, 0.03229429953076958, -0.00878932492390156,
    -0.01381052613715192, 0.006721627302259457, 0.004420542387045791, -0.0035814942596096226,
    -0.0008315621728225569, 0.0013925596193231364, -5.349759843997695e-05, -0.00038510474869921763,
    0.00010153288973670291, 6.77428082837773e-05, -3.710586183394713e-05, -4.376143862183997e-06,
    7.2412482876736205e-06, -1.0119940100188862e-06, -6.847079597000557e-07, 2.6339242262700013e-07,
    2.0143220235505126e-10, -1.814843248299696e-08, 4.056127055551833e-09, -2.9988364896193194e-10,
};
// clang-format on

const double *fbp_daubechies(unsigned N)
{
    return DAUBECHIES_TAPS + (size_t)N * (N - 1);
}

/*
 * Wavelets: B. Muench, P. Trtik, F. Marone and M. Stampanoni, Opt. Express 17, 8567 (2009).
 * Stripes along the angles are in the coefficients that are details along columns and averages
 * along angles.  In these, level by level, low frequencies f along the angles are damped by
 * 1 - exp(-f^2 / 2 sigma^2).
 *
 * The method is linear, and the transform is invertible.  Therefore only the damped part of these
 * coefficients is transformed back, and subtracted.  Ends are mirrored (x1 x0 | x0 x1 ...), outside
 * of a frame around the sinogram: means of the columns before the first and after the last angle,
 * the outermost sample beyond the ends of rows.
 */

enum { MOST_LEVELS = 24, LEAST_SIDE = 16, MOST_FRAME = 150, WAVELET_COLUMNS = 64 };

struct picture {
    size_t columns, rows;
    double *at; /* [row][column] */
};

/* Scratch memory of one sinogram. */
struct wavelet_room {
    size_t frame, taps;
    const double *low;                      /* [taps] scaling filter */
    double high[2 * FBP_DAUBECHIES_MOST];   /* [taps] wavelet filter */
    struct picture level[MOST_LEVELS + 1];  /* [0]: framed sinogram; [i]: lowpass along both axes at
                                               wavelet level i */
    struct picture detail[MOST_LEVELS + 1]; /* from level 1 on: lowpass along angles, highpass along
                                               columns; later replaced by its damped part */
    double *half;                           /* lowpass along angles only */
    double *even, *odd;    /* even and odd samples of a row extended by mirror images */
    double *cosine, *sine; /* [row] wave of one frequency */
};

static size_t halved(size_t n, size_t taps)
{
    return (n + taps - 1) / 2;
}

static size_t frame_of(const struct fbp_stripes *s)
{
    const size_t side = s->n_views < s->n_columns ? s->n_views : s->n_columns;

    return side / 10 < MOST_FRAME ? side / 10 : MOST_FRAME;
}

/* Lay out the scratch memory of ring removal by wavelets; returns its size [bytes].  memory NULL:
 * computes only the size. */
static size_t wavelet_lay_out(const struct fbp_stripes *s, void *memory, struct wavelet_room *r)
{
    const size_t taps = 2 * (size_t)s->wavelet;
    size_t used = 0;

    *r = (struct wavelet_room){
        .frame = frame_of(s), .taps = taps, .low = fbp_daubechies(s->wavelet)};
    for (size_t i = 0; i < taps; i++)
        r->high[i] = (i % 2 ? -1 : 1) * r->low[taps - 1 - i];
    size_t columns = s->n_columns + 2 * r->frame, rows = s->n_views + 2 * r->frame;
    const size_t longest = ((columns > rows ? columns : rows) + 2 * taps) * sizeof(double);
    const size_t widest = columns > WAVELET_COLUMNS ? columns : WAVELET_COLUMNS;
    r->half = fbp_carve(memory, &used, widest * halved(rows, taps) * sizeof(double));
    for (size_t i = 0; i <= s->levels; i++) {
        const size_t bytes = columns * rows * sizeof(double);
        r->level[i] = (struct picture){columns, rows, fbp_carve(memory, &used, bytes)};
        if (i > 0)
            r->detail[i] = (struct picture){columns, rows, fbp_carve(memory, &used, bytes)};
        columns = halved(columns, taps);
        rows = halved(rows, taps);
    }
    r->even = fbp_carve(memory, &used, longest);
    r->odd = fbp_carve(memory, &used, longest);
    r->cosine = fbp_carve(memory, &used, longest);
    r->sine = fbp_carve(memory, &used, longest);
    return used;
}

static void add_times(const double *in, double times, size_t n, double *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] += times * in[i];
}

/* Compute one level of the wavelet transform: halve `in` by a lowpass along angles, then split it
 * along columns into low (lowpass) and high (highpass). */
static void decompose(const struct wavelet_room *r, const struct picture *in,
                      const struct picture *low, const struct picture *high)
{
    const ptrdiff_t before = (ptrdiff_t)r->taps - 2;
    const size_t n = low->columns;

    memset(r->half, 0, low->rows * in->columns * sizeof *r->half);
    for (size_t k = 0; k < low->rows; k++)
        for (size_t i = 0; i < r->taps; i++) {
            const ptrdiff_t from = (ptrdiff_t)(2 * k + 2 + i) - (ptrdiff_t)r->taps;
            add_times(in->at + mirrored(from, in->rows) * in->columns, r->low[i], in->columns,
                      r->half + k * in->columns);
        }

    memset(low->at, 0, low->rows * n * sizeof *low->at);
    memset(high->at, 0, low->rows * n * sizeof *high->at);
    for (size_t row = 0; row < low->rows; row++) {
        const double *half = r->half + row * in->columns;
        for (size_t i = 0; i < n + r->taps / 2; i++) {
            r->even[i] = half[mirrored(2 * (ptrdiff_t)i - before, in->columns)];
            r->odd[i] = half[mirrored(2 * (ptrdiff_t)i + 1 - before, in->columns)];
        }
        for (size_t i = 0; i < r->taps; i++) {
            const double *samples = (i % 2 ? r->odd : r->even) + i / 2;
            add_times(samples, r->low[i], n, low->at + row * n);
            add_times(samples, r->high[i], n, high->at + row * n);
        }
    }
}

/* Replace wavelet coefficients by their part that damping removes; out: work memory
 * [rows][WAVELET_COLUMNS]. */
static void keep_low(const struct fbp_stripes *s, const struct wavelet_room *r,
                     const struct picture *p, double *out)
{
    /* Greatest distance, in standard deviations, at which the Gaussian is computed: it is below
     * 1e-17 there. */
    static const double REACH = 8.85;
    const size_t last = (size_t)fmin(floor(REACH * s->sigma), floor((double)p->rows / 2));
    double sums[2][WAVELET_COLUMNS];

    for (size_t first = 0; first < p->columns; first += WAVELET_COLUMNS) {
        const size_t n =
            p->columns - first < WAVELET_COLUMNS ? p->columns - first : WAVELET_COLUMNS;
        memset(out, 0, p->rows * WAVELET_COLUMNS * sizeof *out);
        for (size_t f = 0; f <= last; f++) {
            const double x = (double)f / s->sigma;
            const bool alone = f == 0 || 2 * f == p->rows; /* -f is the same frequency */
            const double weight = (alone ? 1 : 2) * exp(-x * x / 2);
            for (size_t k = 0; k < p->rows; k++) {
                const double angle = 2 * FBP_PI * (double)(f * k % p->rows) / (double)p->rows;
                r->cosine[k] = cos(angle);
                r->sine[k] = sin(angle);
            }
            for (int part = 0; part < 2; part++) {
                const double *wave = part ? r->sine : r->cosine;
                memset(sums[part], 0, n * sizeof *sums[part]);
                for (size_t row = 0; row < p->rows; row++)
                    add_times(p->at + row * p->columns + first,
                              weight / (double)p->rows * wave[row], n, sums[part]);
            }
            for (size_t row = 0; row < p->rows; row++) {
                add_times(sums[0], r->cosine[row], n, out + row * WAVELET_COLUMNS);
                add_times(sums[1], r->sine[row], n, out + row * WAVELET_COLUMNS);
            }
        }
        for (size_t row = 0; row < p->rows; row++)
            memcpy(p->at + row * p->columns + first, out + row * WAVELET_COLUMNS, n * sizeof *out);
    }
}

/* Compute one level of the inverse wavelet transform: low (if not NULL) and high are combined to
 * `out`. */
static void compose(const struct wavelet_room *r, const struct picture *low,
                    const struct picture *high, const struct picture *out)
{
    const size_t n = out->columns, shift = r->taps / 2 - 1, pairs = high->columns - shift;

    for (size_t row = 0; row < high->rows; row++) {
        memset(r->even, 0, pairs * sizeof *r->even);
        memset(r->odd, 0, pairs * sizeof *r->odd);
        for (size_t i = 0; i < r->taps; i++) {
            const size_t from = row * high->columns + shift - i / 2;
            double *to = i % 2 ? r->odd : r->even;
            if (low)
                add_times(low->at + from, r->low[i], pairs, to);
            add_times(high->at + from, r->high[i], pairs, to);
        }
        for (size_t i = 0; i < n; i++)
            r->half[row * n + i] = (i % 2 ? r->odd : r->even)[i / 2];
    }

    memset(out->at, 0, out->rows * n * sizeof *out->at);
    for (size_t row = 0; row < out->rows; row++)
        for (size_t i = row % 2; i < r->taps; i += 2)
            add_times(r->half + (row / 2 + shift - i / 2) * n, r->low[i], n, out->at + row * n);
}

static void remove_by_wavelets(const struct fbp_stripes *s, float *sinogram, size_t stride,
                               void *scratch)
{
    struct wavelet_room r;

    if (s->levels == 0)
        return;
    wavelet_lay_out(s, scratch, &r);

    /* Copy the sinogram, extended by a frame, to level 0 of the wavelet transform. */
    const size_t f = r.frame, nc = s->n_columns, width = r.level[0].columns;
    double *at = r.level[0].at, *mean = r.even;
    memset(mean, 0, nc * sizeof *mean);
    for (size_t k = 0; k < s->n_views; k++)
        for (size_t c = 0; c < nc; c++)
            mean[c] += (double)sinogram[k * stride + c] / (double)s->n_views;
    for (size_t row = 0; row < r.level[0].rows; row++, at += width) {
        const bool inside = row >= f && row - f < s->n_views;
        for (size_t c = 0; c < nc; c++)
            at[f + c] = inside ? (double)sinogram[(row - f) * stride + c] : mean[c];
        for (size_t c = 0; c < f; c++) {
            at[c] = at[f];
            at[f + nc + c] = at[f + nc - 1];
        }
    }

    for (size_t l = 1; l <= s->levels; l++)
        decompose(&r, &r.level[l - 1], &r.level[l], &r.detail[l]);
    for (size_t l = 1; l <= s->levels; l++)
        keep_low(s, &r, &r.detail[l], r.half);
    for (size_t l = s->levels; l > 0; l--)
        compose(&r, l < s->levels ? &r.level[l] : NULL, &r.detail[l], &r.level[l - 1]);

    const double *damped = r.level[0].at + f * width + f;
    for (size_t k = 0; k < s->n_views; k++)
        for (size_t c = 0; c < nc; c++)
            sinogram[k * stride + c] -= (float)damped[k * width + c];
}

void fbp_stripes_of(const struct fbp_corrections *c, size_t n_views, size_t n_columns,
                    struct fbp_stripes *out)
{
    const size_t odd = n_columns - (n_columns + 1) % 2;
    const size_t usual = c->rings == FBP_RINGS_SORTING ? 21 : 9;

    *out = (struct fbp_stripes){.method = c->rings,
                                .n_views = n_views,
                                .n_columns = n_columns,
                                .size = c->ring_size  ? c->ring_size
                                        : odd < usual ? odd
                                                      : usual,
                                .levels = c->ring_levels ? c->ring_levels : 5,
                                .sigma = c->ring_sigma > 0 ? c->ring_sigma : 1,
                                .wavelet = c->ring_wavelet ? c->ring_wavelet : 9};
    if (out->method == FBP_RINGS_WAVELET) {
        const size_t side = n_views < n_columns ? n_views : n_columns;
        size_t n = side + 2 * frame_of(out), levels = 0;
        for (; n >= (size_t)2 * LEAST_SIDE && levels < out->levels && levels < MOST_LEVELS; n /= 2)
            levels++;
        out->levels = levels;
    }
}

void fbp_stripes_describe(const struct fbp_stripes *s, char *buf, size_t n)
{
    if (s->method == FBP_RINGS_SORTING)
        snprintf(buf, n, "rings by sorting, median of %zu columns", s->size);
    else if (s->method != FBP_RINGS_WAVELET)
        snprintf(buf, n, "rings by offsets, up to %zu columns wide%s", s->size,
                 s->method == FBP_RINGS_FLUCTUATING ? ", and fluctuating pixels" : "");
    else
        snprintf(buf, n, "rings by wavelets db%u, %zu level%s, sigma %.4g", s->wavelet, s->levels,
                 s->levels == 1 ? "" : "s", s->sigma);
}

size_t fbp_stripes_bytes(const struct fbp_stripes *s)
{
    struct sorting_room sorting;
    struct wavelet_room wavelet;

    return s->method == FBP_RINGS_SORTING   ? sorting_lay_out(s, NULL, &sorting)
           : s->method == FBP_RINGS_WAVELET ? wavelet_lay_out(s, NULL, &wavelet)
                                            : fbp_offsets_bytes(s);
}

void fbp_stripes_remove(const struct fbp_stripes *s, float *sinogram, size_t stride, void *scratch)
{
    if (s->method == FBP_RINGS_SORTING)
        remove_by_sorting(s, sinogram, stride, scratch);
    else if (s->method == FBP_RINGS_WAVELET)
        remove_by_wavelets(s, sinogram, stride, scratch);
    else
        fbp_offsets_remove(s, sinogram, stride, scratch);
}

/* Hoare's selection (1961). The caller has set all n values of x. */
float fbp_median(float *x, size_t n)
{
    const ptrdiff_t k = (ptrdiff_t)(n / 2);

    for (ptrdiff_t low = 0, high = (ptrdiff_t)n - 1; low < high;) {
        const float pivot = x[k];
        ptrdiff_t i = low, j = high;
        do {
            // NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): the caller sets x
            while (x[i] < pivot)
                i++;
            // NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): the caller sets x
            while (x[j] > pivot)
                j--;
            if (i <= j) {
                const float other = x[i];
                x[i++] = x[j];
                x[j--] = other;
            }
        } while (i <= j);
        low = j < k ? i : low;
        high = k < i ? j : high;
    }
    return x[k];
}

/* Test for bad columns: the fourth difference along columns is the same at all angles if a pixel is
 * wrong; at the edge of an object it changes with the angle, and elsewhere it is small. */
bool fbp_stripes_found(const struct fbp_stripes *s, const float *sinogram, size_t stride,
                       void *scratch)
{
    enum { MOST_VIEWS = 512 };
    static const float SIGMAS = 8, MEDIAN_SIGMA = 1.86F, PART = 1e-3F; /* 1.25 x 1.48 */
    const size_t step = (s->n_views + MOST_VIEWS - 1) / MOST_VIEWS;
    float *e = scratch;

    for (size_t c = 2; c + 2 < s->n_columns; c++) {
        float level = 0;
        size_t n = 0;
        for (size_t k = 0; k < s->n_views; k += step) {
            const float *x = sinogram + k * stride + c;
            e[n++] = x[0] - (4 * (x[-1] + x[1]) - (x[-2] + x[2])) / 6;
            level += fabsf(x[0]);
        }
        const float m = fbp_median(e, n);
        for (size_t i = 0; i < n; i++)
            e[i] = fabsf(e[i] - m);
        const float error = MEDIAN_SIGMA * fbp_median(e, n) / sqrtf((float)n);
        if (fabsf(m) > SIGMAS * error + PART * level / (float)n)
            return true;
    }
    return s->method == FBP_RINGS_FLUCTUATING && fbp_offsets_found(s, sinogram, stride, scratch);
}
