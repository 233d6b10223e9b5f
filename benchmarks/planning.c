/* Exact policy updates in plain C: the bound that the compiled loop of the library is measured against.
 *
 * Per update: M = I - gamma P_pi from CSR rows over (s, a); LU of M without pivoting (an M-matrix, so that is stable), rows
 * contiguous, zero multipliers skipped; v by back substitution; q; d by the transposed solve of the same factors; the update.
 * Rows of M are padded to a multiple of 8 doubles and aligned, so that the inner loop needs no remainder.
 */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 8
#define SINGULAR 1e-13

typedef struct {
    int n_states, n_actions;
    const int *indptr, *indices; /* CSR [S*A, S] */
    const double *data, *r, *p0; /* [nnz], [S, A], [S] */
    double gamma;
} Model;

static double dot(const double *restrict x, const double *restrict y, int n) {
    double sum[WIDTH] = {0.0};
    int i = 0;
    for (; i + WIDTH <= n; i += WIDTH)
        for (int l = 0; l < WIDTH; l++) sum[l] += x[i + l] * y[i + l];
    for (; i < n; i++) sum[0] += x[i] * y[i];
    return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

static void fill(const Model *m, const double *restrict pi, double gamma, double *restrict M, int stride) {
    memset(M, 0, sizeof(double) * m->n_states * stride);
    for (int s = 0; s < m->n_states; s++) {
        double *restrict row = M + (size_t)s * stride;
        row[s] = 1.0;
        for (int a = 0; a < m->n_actions; a++) {
            const double weight = gamma * pi[s * m->n_actions + a];
            if (weight == 0.0) continue;
            for (int e = m->indptr[s * m->n_actions + a]; e < m->indptr[s * m->n_actions + a + 1]; e++)
                row[m->indices[e]] -= weight * m->data[e];
        }
    }
}

/* M becomes its factors, inverse the reciprocal pivots, x (unless NULL) the solution of the lower system. The pivot's row is copied
 * to u with zeros before column k, so that whole aligned blocks are updated; u[k] = pivot - 1 leaves the multiplier in column k. */
static void factor(double *restrict M, double *restrict inverse, double *restrict x, double *restrict u, int n, int stride) {
    u = __builtin_assume_aligned(u, 64);
    for (int k = 0; k < n; k++) {
        const double *restrict pivot_row = __builtin_assume_aligned(M + (size_t)k * stride, 64);
        const double pivot = pivot_row[k], reciprocal = pivot < SINGULAR ? 0.0 : 1.0 / pivot;
        const int start = k / WIDTH * WIDTH;
        memcpy(u + start, pivot_row + start, sizeof(double) * (stride - start));
        for (int j = start; j < k; j++) u[j] = 0.0;
        u[k] = pivot - 1.0;
        inverse[k] = reciprocal;
        for (int i = k + 1; i < n; i++) {
            double *restrict row = __builtin_assume_aligned(M + (size_t)i * stride, 64);
            const double multiplier = row[k] * reciprocal;
            if (multiplier == 0.0) continue;
            for (int j = start; j < stride; j += WIDTH)
                for (int l = 0; l < WIDTH; l++) row[j + l] -= multiplier * u[j + l];
            if (x) x[i] -= multiplier * x[k];
        }
    }
}

static void back_substitute(const double *restrict M, const double *restrict inverse, double *restrict x, int n, int stride) {
    for (int i = n - 1; i >= 0; i--)
        x[i] = (x[i] - dot(M + (size_t)i * stride + i + 1, x + i + 1, n - 1 - i)) * inverse[i];
}

static bool solve_transposed(const double *restrict M, const double *restrict inverse, double *restrict x, int n, int stride) {
    bool proper = true;
    for (int k = 0; k < n; k++) {
        if (inverse[k] == 0.0 && x[k] > SINGULAR) proper = false;
        const double value = x[k] *= inverse[k];
        if (value != 0.0)
            for (int j = k + 1; j < n; j++) x[j] -= M[(size_t)k * stride + j] * value;
    }
    for (int i = n - 1; i > 0; i--) {
        const double value = x[i];
        if (value != 0.0)
            for (int k = 0; k < i; k++) x[k] -= M[(size_t)i * stride + k] * value;
    }
    return proper;
}

static void project(double *restrict x, double *restrict work, int n) {
    for (int i = 0; i < n; i++) {
        int j = i;
        for (; j > 0 && work[j - 1] < x[i]; j--) work[j] = work[j - 1];
        work[j] = x[i];
    }
    double total = 0.0, tau = 0.0;
    for (int i = 0; i < n; i++) {
        total += work[i];
        const double candidate = (total - 1.0) / (i + 1);
        if (work[i] <= candidate) break;
        tau = candidate;
    }
    for (int i = 0; i < n; i++) x[i] = fmax(x[i] - tau, 0.0);
}

static void softmax(double *restrict theta, double *restrict pi, int n) {
    double top = theta[0], total = 0.0;
    for (int a = 1; a < n; a++) top = theta[a] > top ? theta[a] : top;
    for (int a = 0; a < n; a++) {
        theta[a] -= top;
        total += pi[a] = exp(theta[a]);
    }
    for (int a = 0; a < n; a++) pi[a] /= total;
}

/* J[t]: return before update t. softmax_on: parametrization; d_t = o off + (1 - o) d_{pi, gamma_on} / its sum. Returns the
 * number of updates made; fewer than asked for where the undiscounted density is infinite, -1 without memory. */
int run(int n_states, int n_actions, const int *indptr, const int *indices, const double *data, const double *r, const double *p0,
        double gamma, const double *off, double o, double gamma_on, int softmax_on, double eta, double lam, int updates, double *J) {
    const Model m = {n_states, n_actions, indptr, indices, data, r, p0, gamma};
    const int S = n_states, A = n_actions, stride = (S + WIDTH - 1) / WIDTH * WIDTH;
    double *M = aligned_alloc(64, sizeof(double) * (S + 1) * stride);
    double *pi = malloc(sizeof(double) * (3 * S * A + 3 * S + A));
    int t = -1;
    if (M && pi) {
        double *u = M + (size_t)S * stride, *theta = pi + S * A, *q = theta + S * A, *v = q + S * A, *d = v + S, *inverse = d + S, *work = inverse + S;
        for (int i = 0; i < S * A; i++) {
            pi[i] = 1.0 / A;
            theta[i] = softmax_on ? 0.0 : pi[i];
        }
        for (t = 0; t < updates; t++) {
            fill(&m, pi, gamma, M, stride);
            for (int s = 0; s < S; s++) {
                v[s] = 0.0;
                for (int a = 0; a < A; a++) v[s] += pi[s * A + a] * r[s * A + a];
            }
            factor(M, inverse, v, u, S, stride);
            back_substitute(M, inverse, v, S, stride);
            J[t] = dot(p0, v, S);
            for (int i = 0; i < S * A; i++) {
                double value = 0.0;
                for (int e = indptr[i]; e < indptr[i + 1]; e++) value += data[e] * v[indices[e]];
                q[i] = r[i] + gamma * value;
            }
            if (o == 1.0) {
                memcpy(d, off, sizeof(double) * S);
            } else {
                if (gamma_on != gamma) {
                    fill(&m, pi, gamma_on, M, stride);
                    factor(M, inverse, NULL, u, S, stride);
                }
                memcpy(d, p0, sizeof(double) * S);
                if (!solve_transposed(M, inverse, d, S, stride)) break;
                double total = 0.0;
                for (int s = 0; s < S; s++) total += d[s];
                for (int s = 0; s < S; s++) d[s] = o * off[s] + (1.0 - o) * (d[s] / total);
            }
            for (int s = 0; s < S; s++) {
                const double step = eta * d[s];
                double *row = theta + s * A, *row_pi = pi + s * A;
                const double *row_q = q + s * A;
                if (step == 0.0) continue;
                if (softmax_on) {
                    for (int a = 0; a < A; a++) {
                        const double entropy = lam != 0.0 && row_pi[a] > 0.0 ? -lam * log(row_pi[a]) : 0.0;
                        row[a] += step * row_pi[a] * (row_q[a] + entropy - v[s]);
                    }
                    softmax(row, row_pi, A);
                } else {
                    for (int a = 0; a < A; a++) row[a] += step * row_q[a];
                    project(row, work, A);
                    memcpy(row_pi, row, sizeof(double) * A);
                }
            }
        }
    }
    free(M);
    free(pi);
    return t;
}
