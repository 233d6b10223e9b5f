/* The tabular loops in plain C, as a yardstick: J&H (Algorithm 3, softmax, expected SARSA from replay, ucb bonus) and PG (Algorithm 2,
   expected update on the current transition), published convention, with exact evaluation between trajectories.
   cc -O3 -march=native -shared -fPIC tabular.c -lm */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    int S, A, E, horizon;
    const int32_t *first, *s, *a, *next;
    const double *p, *cdf, *r, *discount, *r_mean; /* per edge; r_mean [S*A] */
    const uint8_t *terminal;
    double gamma;
} Mdp;

static inline uint64_t rotl(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

static inline double uniform(uint64_t *w) {
    const uint64_t bits = rotl(w[0] + w[3], 23) + w[0], t = w[1] << 17;
    w[2] ^= w[0]; w[3] ^= w[1]; w[1] ^= w[2]; w[0] ^= w[3]; w[2] ^= t; w[3] = rotl(w[3], 45);
    return (bits >> 11) * 0x1p-53;
}

#define WIDTH 8

/* J of pi: I - gamma P_pi eliminated without pivoting (an M-matrix, so that is stable), rows padded to whole vectors, zeros skipped. */
static double exact_return(const Mdp *m, const double *restrict pi, double *restrict M, double *restrict v, double *restrict u) {
    const int S = m->S, A = m->A, stride = (S + WIDTH - 1) / WIDTH * WIDTH;
    memset(M, 0, sizeof(double) * S * stride);
    for (int s = 0; s < S; s++) {
        M[s * stride + s] = 1.0;
        v[s] = 0.0;
        for (int a = 0; a < A; a++) {
            const double w = pi[s * A + a];
            v[s] += w * m->r_mean[s * A + a];
            for (int e = m->first[s * A + a]; e < m->first[s * A + a + 1]; e++) M[s * stride + m->next[e]] -= m->gamma * w * m->p[e];
        }
    }
    for (int k = 0; k < S; k++) {
        const double inverse = 1.0 / M[k * stride + k];
        const int start = k / WIDTH * WIDTH;
        memcpy(u + start, M + k * stride + start, sizeof(double) * (stride - start));
        for (int j = start; j <= k; j++) u[j] = 0.0;
        for (int i = k + 1; i < S; i++) {
            double *restrict row = M + i * stride;
            const double f = row[k] * inverse;
            if (f == 0.0) continue;
            for (int j = start; j < stride; j += WIDTH)
                for (int l = 0; l < WIDTH; l++) row[j + l] -= f * u[j + l];
            v[i] -= f * v[k];
        }
    }
    for (int i = S - 1; i >= 0; i--) {
        double sum = v[i];
        for (int j = i + 1; j < S; j++) sum -= M[i * stride + j] * v[j];
        v[i] = sum / M[i * stride + i];
    }
    return v[0];
}

static inline int act_softmax(const double *pi, int A, uint64_t *w) {
    double u = uniform(w);
    int a = 0;
    for (; a < A - 1; a++) {
        u -= pi[a];
        if (u < 0.0) break;
    }
    return a;
}

static inline int act_greedy(const double *q, int A, uint64_t *w) {
    double best = q[0];
    int ties = 1, chosen = 0;
    for (int a = 1; a < A; a++) {
        if (q[a] > best) { best = q[a]; ties = 1; chosen = a; }
        else if (q[a] == best) ties++;
    }
    int rank = (int)(uniform(w) * ties);
    if (ties == 1) return chosen;
    for (int a = 0; a < A; a++)
        if (q[a] == best && rank-- == 0) return a;
    return chosen;
}

static inline int next_edge(const Mdp *m, int row, uint64_t *w) {
    int e = m->first[row];
    const int last = m->first[row + 1] - 1;
    if (e == last) return e;
    const double u = uniform(w);
    while (e < last && u >= m->cdf[e]) e++;
    return e;
}

static inline void improve(double *theta, double *pi, const double *q, int A, double step) {
    double v = 0.0, top = -INFINITY, total = 0.0;
    for (int a = 0; a < A; a++) v += pi[a] * q[a];
    for (int a = 0; a < A; a++) {
        theta[a] += step * pi[a] * (q[a] - v);
        if (theta[a] > top) top = theta[a];
    }
    for (int a = 0; a < A; a++) {
        theta[a] -= top;
        pi[a] = theta[a] == 0.0 ? 1.0 : exp(theta[a]);
        total += pi[a];
    }
    const double scale = 1.0 / total;
    for (int a = 0; a < A; a++) pi[a] *= scale;
}

static inline double expected(const double *pi, const double *q, int A) {
    double v = 0.0;
    for (int a = 0; a < A; a++) v += pi[a] * q[a];
    return v;
}

static void fill(double *x, int n, double value) { for (int i = 0; i < n; i++) x[i] = value; }

/* J[2*i], J[2*i+1]: Jekyll's and Hyde's return after trajectory 1 + i*every, and at the end. Returns the number of steps. */
int64_t jekyll_hyde(const Mdp *m, int64_t trajectories, int64_t every, int batch, double eta, double eta_c, double eta_hyde,
                    double epsilon_c, double o, uint64_t *w, double *J) {
    const int S = m->S, A = m->A, SA = S * A;
    double *theta = calloc(SA, 8), *pi = malloc(SA * 8), *q = calloc(SA, 8), *qh = malloc(SA * 8), *ph = malloc(SA * 8);
    double *M = malloc(8 * S * (S + WIDTH)), *v = malloc(8 * S), *u = malloc(8 * (S + WIDTH));
    int64_t *n = calloc(SA, 8), *count = calloc(m->E, 8), size[2] = {0, 0}, room[2] = {1 << 17, 1 << 17};
    int32_t *buffer[2] = {malloc(room[0] * 4), malloc(room[1] * 4)};
    fill(pi, SA, 1.0 / A);
    fill(qh, SA, 1.0);
    for (int s = 0; s < S; s++) if (m->terminal[s]) fill(qh + s * A, A, 0.0);
    int64_t t = 0, done = 0, at = 1, i = 0;
    int s = 0, k = 0, control = 0;
    double f = 1.0, f_sum = 0.0, log_count = 0.0;
    while (done < trajectories) {
        const int a = control ? act_greedy(qh + s * A, A, w) : act_softmax(pi + s * A, A, w);
        const int e = next_edge(m, s * A + a, w);
        n[s * A + a]++;
        count[e]++;
        if (size[control] == room[control]) buffer[control] = realloc(buffer[control], 4 * (room[control] *= 2));
        buffer[control][size[control]++] = e;
        t++;
        f_sum += f;
        const double step = eta / batch * f * done / f_sum;
        for (int b = 0; b < batch; b++) {
            const int from = size[1] > 0 && uniform(w) < o;
            int d = buffer[from][(int64_t)(uniform(w) * size[from])];
            const int si = m->s[d], row = si * A + m->a[d];
            if (m->first[row + 1] - m->first[row] > 1) {
                int64_t rank = (int64_t)(uniform(w) * n[row]);
                for (d = m->first[row]; d < m->first[row + 1] - 1 && rank >= count[d]; d++) rank -= count[d];
            }
            const int next = m->next[d] * A;
            q[row] += eta_c / batch * (m->r[d] + m->discount[d] * expected(pi + next, q + next, A) - q[row]);
            double best = qh[next];
            for (int x = 1; x < A; x++) if (qh[next + x] > best) best = qh[next + x];
            const double bonus = sqrt(log_count / (n[row] + 0.001));
            const double h = qh[row] + eta_hyde / batch * (bonus + m->discount[d] * best - qh[row]);
            qh[row] = h < 1.0 ? h : 1.0;
            improve(theta + si * A, pi + si * A, q + si * A, A, step);
        }
        s = m->next[e];
        k++;
        f *= m->gamma;
        if (m->terminal[s] || k == m->horizon) {
            const double epsilon = epsilon_c / t < 1.0 ? epsilon_c / t : 1.0;
            done++;
            control = uniform(w) < epsilon;
            s = 0; k = 0; f = 1.0;
            log_count = log(done + 1.0);
            if (done == at || done == trajectories) {
                J[i++] = exact_return(m, pi, M, v, u);
                for (int x = 0; x < S; x++) {
                    int best = 0;
                    for (int y = 0; y < A; y++) { ph[x * A + y] = 0.0; if (qh[x * A + y] > qh[x * A + best]) best = y; }
                    ph[x * A + best] = 1.0;
                }
                J[i++] = exact_return(m, ph, M, v, u);
                at += every;
            }
        }
    }
    free(theta); free(pi); free(q); free(qh); free(ph); free(M); free(v); free(u); free(n); free(count); free(buffer[0]); free(buffer[1]);
    return t;
}

int64_t policy_gradient(const Mdp *m, int64_t trajectories, int64_t every, double eta, double eta_c, uint64_t *w, double *J) {
    const int S = m->S, A = m->A, SA = S * A;
    double *theta = calloc(SA, 8), *pi = malloc(SA * 8), *q = calloc(SA, 8), *M = malloc(8 * S * (S + WIDTH)), *v = malloc(8 * S), *u = malloc(8 * (S + WIDTH));
    int64_t *n = calloc(SA, 8), t = 0, done = 0, at = 1, i = 0;
    fill(pi, SA, 1.0 / A);
    int s = 0, k = 0;
    double f = 1.0, f_sum = 0.0;
    while (done < trajectories) {
        const int a = act_softmax(pi + s * A, A, w), row = s * A + a, e = next_edge(m, row, w), next = m->next[e] * A;
        n[row]++;
        t++;
        f_sum += f;
        q[row] += eta_c * (m->r[e] + m->discount[e] * expected(pi + next, q + next, A) - q[row]);
        improve(theta + s * A, pi + s * A, q + s * A, A, eta * f * done / f_sum);
        s = m->next[e];
        k++;
        f *= m->gamma;
        if (m->terminal[s] || k == m->horizon) {
            done++;
            s = 0; k = 0; f = 1.0;
            if (done == at || done == trajectories) { J[i++] = exact_return(m, pi, M, v, u); at += every; }
        }
    }
    free(theta); free(pi); free(q); free(M); free(v); free(u); free(n);
    return t;
}
