/* The loop with a model-based Hyde (convention="recommended") and UCBVI in plain C, by the same definitions and with the same random
   numbers as the library, with exact evaluation between trajectories.
   cc -O3 -march=native -shared -fPIC explorers.c -lm */
#include "tabular.c"

#define NOTHING 0xFFFFFFFFu
#define TOLERANCE 1e-3
#define TIE 1e-9

/* What was seen: distinct transitions in a list per pair and in one per successor, mean rewards, values, and a queue of pairs. */
typedef struct {
    uint32_t *pair, *next, *more, *more_into, *of_pair, *into, *queue;
    uint8_t *ended, *queued;
    int64_t *times;
    double *r, *spread, *doubt, *v, *vh, *told, *told_h;
    uint32_t distinct, first, size;
    double scale;
} Counts;

static double *filled(size_t n, double value) {
    double *x = malloc(sizeof(double) * n);
    fill(x, n, value);
    return x;
}

static uint32_t *places(size_t n) {
    uint32_t *x = malloc(4 * n);
    for (size_t i = 0; i < n; i++) x[i] = NOTHING;
    return x;
}

static Counts new_counts(size_t S, size_t SA, size_t E, double vh) {
    return (Counts){
        .pair = places(E), .next = places(E), .more = places(E), .more_into = places(E), .of_pair = places(SA), .into = places(S),
        .queue = places(SA), .ended = calloc(E, 1), .queued = calloc(SA, 1), .times = calloc(E, 8), .r = calloc(SA, 8),
        .spread = calloc(SA, 8), .doubt = calloc(SA, 8), .v = calloc(S, 8), .vh = filled(S, vh), .told = calloc(S, 8),
        .told_h = filled(S, vh)};
}

static void free_counts(Counts *c) {
    free(c->pair); free(c->next); free(c->more); free(c->more_into); free(c->of_pair); free(c->into); free(c->queue); free(c->ended);
    free(c->queued); free(c->times); free(c->r); free(c->spread); free(c->doubt); free(c->v); free(c->vh); free(c->told); free(c->told_h);
}

static inline void observe(Counts *c, uint32_t pair, uint32_t next, int ended, double r, int64_t n) {
    if (fabs(r) > c->scale) c->scale = fabs(r);
    const double surprise = r - c->r[pair];
    c->r[pair] += surprise / n;
    c->spread[pair] += surprise * (r - c->r[pair]);
    uint32_t i = c->of_pair[pair];
    while (i != NOTHING && !(c->next[i] == next && c->ended[i] == ended)) i = c->more[i];
    if (i == NOTHING) {
        i = c->distinct++;
        c->pair[i] = pair; c->next[i] = next; c->ended[i] = ended; c->times[i] = 0;
        c->more[i] = c->of_pair[pair]; c->of_pair[pair] = i;
        c->more_into[i] = c->into[next]; c->into[next] = i;
    }
    c->times[i]++;
}

static inline double next_mean(const Counts *c, uint32_t pair, const double *v, double at_end, int64_t n) {
    double total = 0.0;
    for (uint32_t i = c->of_pair[pair]; i != NOTHING; i = c->more[i]) total += c->times[i] * (c->ended[i] ? at_end : v[c->next[i]]);
    return total / n;
}

static inline double doubt_of(const Counts *c, uint32_t pair, double gamma, double mean, int64_t n) {
    double spread = c->spread[pair];
    for (uint32_t i = c->of_pair[pair]; i != NOTHING; i = c->more[i]) {
        const double far = gamma * ((c->ended[i] ? 0.0 : c->v[c->next[i]]) - mean);
        spread += c->times[i] * (far * far);
    }
    return sqrt(spread) / n;
}

static inline double largest(const double *q, int A) {
    double best = q[0];
    for (int a = 1; a < A; a++) if (q[a] > best) best = q[a];
    return best;
}

/* Whoever leads to a state whose value has moved is queued. */
static inline void tell(Counts *c, int s, int SA) {
    for (uint32_t i = c->into[s]; i != NOTHING; i = c->more_into[i]) {
        const uint32_t pair = c->pair[i];
        if (c->queued[pair] || c->ended[i]) continue;
        c->queued[pair] = 1;
        c->queue[(c->first + c->size++) % SA] = pair;
    }
}

/* The pair that sample number i is about: the one under way, the next of the queue (a successor is drawn where there are several), or one
   of a log. Only the pair matters to those who learn from counts. */
static inline uint32_t draw(Counts *c, const Mdp *m, uint32_t under_way, int i, int32_t *const *log, const int64_t *size, double o,
                            const int64_t *n, int SA, uint64_t *w) {
    if (i == 0) return under_way;
    if (c->size == 0) {
        const int from = size[1] > 0 && uniform(w) < o;
        const int32_t e = log[from][(int64_t)(uniform(w) * size[from])];
        return m->s[e] * m->A + m->a[e];
    }
    const uint32_t pair = c->queue[c->first];
    c->first = (c->first + 1) % SA;
    c->size--;
    c->queued[pair] = 0;
    if (c->more[c->of_pair[pair]] != NOTHING) uniform(w);
    return pair;
}

/* Only the logit of the best action among those tried is raised, q having the benefit of the doubt. */
static inline void raise_hopeful(const Counts *c, double *theta, double *pi, const double *q, const int64_t *n, uint32_t pair, int A,
                                 double step) {
    const uint32_t row = pair - pair % A;
    int best = 0;
    for (int a = 1; a < A; a++) if (theta[row + a] > theta[row + best]) best = a;
    if (n[row + best] == 0) best = pair - row;
    for (int a = 0; a < A; a++) {
        const double lead = q[row + best] + c->doubt[row + best], size = fabs(lead) > c->scale ? fabs(lead) : c->scale;
        if (n[row + a] > 0 && q[row + a] + c->doubt[row + a] > lead + TIE * size) best = a;
    }
    theta[row + best] += step * (1.0 - pi[row + best]);
    double top = -INFINITY, total = 0.0;
    for (int a = 0; a < A; a++) if (theta[row + a] > top) top = theta[row + a];
    for (int a = 0; a < A; a++) {
        theta[row + a] -= top;
        pi[row + a] = theta[row + a] == 0.0 ? 1.0 : exp(theta[row + a]);
        total += pi[row + a];
    }
    for (int a = 0; a < A; a++) pi[row + a] *= 1.0 / total;
}

static inline int act_sampled(const double *pi, int A, uint64_t *w) {
    double rest = uniform(w) - pi[0];
    int a = 0;
    while (rest >= 0.0 && a < A - 1) rest -= pi[++a];
    while (pi[a] == 0.0) a--;
    return a;
}

static void greedy_policy(const double *qh, double *ph, int S, int A) {
    for (int s = 0; s < S; s++) {
        int best = 0;
        for (int a = 0; a < A; a++) { ph[s * A + a] = 0.0; if (qh[s * A + a] > qh[s * A + best]) best = a; }
        ph[s * A + best] = 1.0;
    }
}

/* J[2*i], J[2*i+1]: Jekyll's and Hyde's return after trajectory 1 + i*every, and at the end. Returns the number of steps. */
int64_t recommended(const Mdp *m, int64_t trajectories, int64_t every, int batch, double eta, double o, uint64_t *w, double *J) {
    const int S = m->S, A = m->A, SA = S * A;
    const double hyde_gamma = 0.99, q0 = 1.0 / (1.0 - hyde_gamma), step = eta / batch;
    double *theta = calloc(SA, 8), *pi = filled(SA, 1.0 / A), *q = calloc(SA, 8), *qh = filled(SA, q0), *ph = malloc(SA * 8);
    double *M = malloc(8 * S * (S + WIDTH)), *v = malloc(8 * S), *u = malloc(8 * (S + WIDTH)), start_value = 0.0;
    int64_t *n = calloc(SA, 8), size[2] = {0, 0}, room[2] = {1 << 17, 1 << 17}, t = 0, done = 0, at = 1, i = 0;
    int32_t *log[2] = {malloc(room[0] * 4), malloc(room[1] * 4)};
    Counts c = new_counts(S, SA, m->E, q0);
    int s = 0, k = 0, control = 0;
    while (done < trajectories) {
        if (k == 0) start_value += (start_value > 0.0 ? 0.1 : 1.0) * (largest(qh + s * A, A) - start_value);
        const int a = control ? act_greedy(qh + s * A, A, w) : act_sampled(pi + s * A, A, w);
        const int pair = s * A + a, e = next_edge(m, pair, w);
        t++;
        n[pair]++;
        if (size[control] == room[control]) log[control] = realloc(log[control], 4 * (room[control] *= 2));
        log[control][size[control]++] = e;
        observe(&c, pair, m->next[e], m->discount[e] == 0.0, m->r[e], n[pair]);
        for (int b = 0; b < batch; b++) {
            const uint32_t x = draw(&c, m, pair, b, log, size, o, n, SA, w), row = x - x % A, y = row / A;
            const double mean = next_mean(&c, x, c.v, 0.0, n[x]);
            q[x] = c.r[x] + m->gamma * mean;
            c.doubt[x] = doubt_of(&c, x, m->gamma, mean, n[x]);
            qh[x] = 1.0 / sqrt((double)n[x]) + hyde_gamma * next_mean(&c, x, c.vh, start_value, n[x]);
            raise_hopeful(&c, theta, pi, q, n, x, A, step);
            const double value = expected(pi + row, q + row, A), hyde = largest(qh + row, A);
            c.v[y] = value; c.vh[y] = hyde;
            const double unit = fabs(value) > c.scale ? fabs(value) : c.scale;
            if (fabs(value - c.told[y]) > TOLERANCE * unit || fabs(hyde - c.told_h[y]) > TOLERANCE * fabs(hyde)) {
                c.told[y] = value; c.told_h[y] = hyde;
                tell(&c, y, SA);
            }
        }
        s = m->next[e];
        k++;
        if (m->terminal[s] || k == m->horizon) {
            const double promise = start_value / q0;
            const double epsilon = sqrt(sqrt(promise < 0.0 ? 0.0 : promise > 1.0 ? 1.0 : promise));
            done++;
            control = uniform(w) < epsilon;
            s = 0; k = 0;
            if (done == at || done == trajectories) {
                J[i++] = exact_return(m, pi, M, v, u);
                greedy_policy(qh, ph, S, A);
                J[i++] = exact_return(m, ph, M, v, u);
                at += every;
            }
        }
    }
    free(theta); free(pi); free(q); free(qh); free(ph); free(M); free(v); free(u); free(n); free(log[0]); free(log[1]);
    free_counts(&c);
    return t;
}

/* J[i]: the return of the policy in play. */
int64_t ucbvi(const Mdp *m, int64_t trajectories, int64_t every, int batch, double c_bonus, double h, double r_max, uint64_t *w, double *J) {
    const int S = m->S, A = m->A, SA = S * A;
    const double most = h * r_max;
    double *pi = filled(SA, 1.0 / A), *q = filled(SA, most);
    double *M = malloc(8 * S * (S + WIDTH)), *v = malloc(8 * S), *u = malloc(8 * (S + WIDTH));
    int64_t *n = calloc(SA, 8), size[2] = {0, 0}, room = 1 << 17, t = 0, done = 0, at = 1, i = 0;
    int32_t *log[2] = {NULL, malloc(room * 4)};
    Counts c = new_counts(S, SA, m->E, most);
    int s = 0, k = 0;
    while (done < trajectories) {
        const int a = act_greedy(q + s * A, A, w), pair = s * A + a, e = next_edge(m, pair, w);
        t++;
        n[pair]++;
        if (size[1] == room) log[1] = realloc(log[1], 4 * (room *= 2));
        log[1][size[1]++] = e;
        observe(&c, pair, m->next[e], m->discount[e] == 0.0, m->r[e], n[pair]);
        for (int b = 0; b < batch; b++) {
            const uint32_t x = draw(&c, m, pair, b, log, size, 1.0, n, SA, w), row = x - x % A, y = row / A;
            const double bonus = c_bonus * most / sqrt((double)n[x]);
            const double value = c.r[x] + bonus + m->gamma * next_mean(&c, x, c.vh, 0.0, n[x]);
            q[x] = value < most ? value : most;
            const double best = largest(q + row, A);
            int ties = 0;
            for (int j = 0; j < A; j++) ties += q[row + j] == best;
            for (int j = 0; j < A; j++) pi[row + j] = q[row + j] == best ? 1.0 / ties : 0.0;
            c.vh[y] = best;
            if (fabs(best - c.told_h[y]) > TOLERANCE * fabs(best)) {
                c.told_h[y] = best;
                tell(&c, y, SA);
            }
        }
        s = m->next[e];
        k++;
        if (m->terminal[s] || k == m->horizon) {
            done++;
            s = 0; k = 0;
            if (done == at || done == trajectories) { J[i++] = exact_return(m, pi, M, v, u); at += every; }
        }
    }
    free(pi); free(q); free(M); free(v); free(u); free(n); free(log[1]);
    free_counts(&c);
    return t;
}
