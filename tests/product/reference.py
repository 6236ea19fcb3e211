"""The algorithms once more, in plain Python and doubles, from the formulas of sdk/ALGORITHMS.md
alone: what a run must come to when everything random is known.

Clients train with full gradients (one batch that is the whole store), so that no order of samples
matters.  A client's samples of one label are all the same point, so that the label histogram of its
store, which `osafl check` prints, is the store.  Noise is drawn as sdk/RANDOM.md says.
"""
import math

from random_streams import KIND_AGGREGATOR, NO_CLIENT, normal, words


def add(a, b, factor=1.0):
    return [x + factor * y for x, y in zip(a, b)]


def scaled(a, factor):
    return [factor * x for x in a]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def weighted_sum(weights, vectors):
    total = [0.0] * len(vectors[0])
    for weight, vector in zip(weights, vectors):
        total = add(total, vector, weight)
    return total


def cosine(a, b):
    norms = math.sqrt(dot(a, a) * dot(b, b))
    return dot(a, b) / norms if norms > 0.0 else 0.0


class Client:
    """histogram: [labels]; points: for each label the point that all samples of it are."""

    def __init__(self, histogram, points):
        self.histogram = histogram
        self.points = points
        self.samples = sum(histogram)

    def gradient(self, w):
        """Of the mean cross-entropy of logistic regression; w: weights row by row, then biases."""
        labels, features = len(self.histogram), len(self.points[0])
        result = [0.0] * len(w)
        for label, count in enumerate(self.histogram):
            x = self.points[label]
            logits = [dot(w[c * features:(c + 1) * features], x) + w[labels * features + c]
                      for c in range(labels)]
            powers = [math.exp(logit - max(logits)) for logit in logits]
            for c in range(labels):
                error = count / self.samples * (powers[c] / sum(powers) - (c == label))
                for i in range(features):
                    result[c * features + i] += error * x[i]
                result[labels * features + c] += error
        return result


def local_sgd(client, w, steps, rate, mu=0.0, correction=None):
    """y after steps of y <- y - rate (gradient + mu (y - w) + correction)."""
    y = w
    for _ in range(steps):
        direction = add(client.gradient(y), add(y, w, -1.0), mu)
        if correction is not None:
            direction = add(direction, correction)
        y = add(y, direction, -rate)
    return y


class Algorithm:
    """Server and clients of FedAvg; others override what they change."""

    mu = 0.0
    settings = {}
    # Set in each round: the participants as their updates arrive, and {client: (gain, power)}.
    order = link = None

    def __init__(self, clients, rounds, rate, seed=None):
        self.clients = clients
        self.rounds = rounds
        self.rate = rate
        self.seed = seed
        total = sum(client.samples for client in clients)
        self.alpha = [client.samples / total for client in clients]

    def shares(self, present):
        total = sum(self.alpha[u] for u in present)
        return [self.alpha[u] / total for u in present]

    def deltas(self, w, kappa):
        """y - w of the participants, whose local rounds are kappa = {client: rounds}."""
        return [add(local_sgd(self.clients[u], w, k, self.rate, self.mu), w, -1.0)
                for u, k in kappa.items()]

    def round(self, t, w, kappa):
        return add(w, weighted_sum(self.shares(kappa), self.deltas(w, kappa)))


class FedAvg(Algorithm):
    settings = {"aggregator.fedavg.server_learning_rate": 1.5}

    def round(self, t, w, kappa):
        return add(w, weighted_sum(self.shares(kappa), self.deltas(w, kappa)), 1.5)


class FedAvgLiteral(Algorithm):
    """sum of alpha_u 1_u (w + Delta_u), as the paper prints it."""

    plugin = "fedavg"
    settings = {"aggregator.fedavg.participation": '"literal"'}

    def round(self, t, w, kappa):
        alphas = [self.alpha[u] for u in kappa]
        return weighted_sum(alphas, [add(w, delta) for delta in self.deltas(w, kappa)])


class FedProx(Algorithm):
    mu = 2.0
    settings = {"optimizer.proximal.mu": 2.0}


class FedNova(Algorithm):
    def round(self, t, w, kappa):
        rounds = list(kappa.values())
        shares = self.shares(kappa)
        normalized = [scaled(delta, -1.0 / (k * self.rate))
                      for delta, k in zip(self.deltas(w, kappa), rounds)]
        return add(w, weighted_sum(shares, normalized), -dot(shares, rounds) * self.rate)


class FedNovaPrinted(FedNova):
    plugin = "fednova"
    settings = {"aggregator.fednova.variant": '"printed"'}

    def round(self, t, w, kappa):
        rounds = list(kappa.values())
        normalized = [scaled(delta, -1.0 / (k * self.rate))
                      for delta, k in zip(self.deltas(w, kappa), rounds)]
        weights = [share * k for share, k in zip(self.shares(kappa), rounds)]
        factor = sum(self.alpha[u] * k for u, k in kappa.items()) * self.rate
        return add(w, weighted_sum(weights, normalized), -factor)


class FedDisco(Algorithm):
    a, b = 0.5, 0.05
    settings = {"aggregator.feddisco.a": a, "aggregator.feddisco.b": b}

    def discrepancies(self, present):
        result = []
        for u in present:
            client = self.clients[u]
            labels = len(client.histogram)
            result.append(math.sqrt(sum((count / client.samples - 1 / labels) ** 2
                                        for count in client.histogram)))
        return result

    def round(self, t, w, kappa):
        weights = [max(self.alpha[u] - self.a * d + self.b, 0.0)
                   for u, d in zip(kappa, self.discrepancies(kappa))]
        weights = scaled(weights, 1.0 / sum(weights)) if sum(weights) > 0 else self.shares(kappa)
        return add(w, weighted_sum(weights, self.deltas(w, kappa)))


class FedDiscoKL(FedDisco):
    plugin = "feddisco"
    settings = {**FedDisco.settings, "aggregator.feddisco.discrepancy": '"kl"'}

    def discrepancies(self, present):
        result = []
        for u in present:
            shares = [count / self.clients[u].samples for count in self.clients[u].histogram]
            result.append(sum(h * math.log(h * len(shares)) for h in shares if h > 0))
        return scaled(result, 1.0 / sum(result))


class AFA_CD(Algorithm):
    rate_global = 2.0
    settings = {"aggregator.afa_cd.global_learning_rate": rate_global}

    def normalized(self, w, kappa):
        return [scaled(delta, -1.0 / k)
                for delta, k in zip(self.deltas(w, kappa), kappa.values())]

    def round(self, t, w, kappa):
        mean = weighted_sum([1.0 / len(kappa)] * len(kappa), self.normalized(w, kappa))
        return add(w, mean, -self.rate_global)


class AFA_CS(AFA_CD):
    settings = {"aggregator.afa_cs.global_learning_rate": AFA_CD.rate_global}

    def __init__(self, *facts):
        super().__init__(*facts)
        self.latest = {}

    def round(self, t, w, kappa):
        self.latest.update(zip(kappa, self.normalized(w, kappa)))
        n = len(self.latest)
        mean = weighted_sum([1.0 / n] * n, list(self.latest.values()))
        return add(w, mean, -self.rate_global)


class FedAvgM(Algorithm):
    momentum = None

    def round(self, t, w, kappa):
        mean = weighted_sum(self.shares(kappa), self.deltas(w, kappa))
        self.momentum = mean if self.momentum is None else add(mean, self.momentum, 0.9)
        return add(w, self.momentum)


class FedAdam(Algorithm):
    beta1, beta2, tau, server_rate = 0.9, 0.99, 1e-3, 0.01
    first = second = None

    def next_second(self, v, square):
        return self.beta2 * v + (1.0 - self.beta2) * square

    def round(self, t, w, kappa):
        mean = weighted_sum(self.shares(kappa), self.deltas(w, kappa))
        if self.first is None:
            self.first = [0.0] * len(w)
            self.second = [self.tau ** 2] * len(w)
        self.first = add(scaled(self.first, self.beta1), mean, 1.0 - self.beta1)
        self.second = [self.next_second(v, g * g) for v, g in zip(self.second, mean)]
        return [x + self.server_rate * m / (math.sqrt(v) + self.tau)
                for x, m, v in zip(w, self.first, self.second)]


class FedYogi(FedAdam):
    def next_second(self, v, square):
        return v - (1.0 - self.beta2) * square * ((v > square) - (v < square))


class FedBuff(Algorithm):
    buffer = 3
    settings = {"aggregator.fedbuff.buffer": buffer}

    def __init__(self, *facts):
        super().__init__(*facts)
        self.waiting = []

    def round(self, t, w, kappa):
        delta = dict(zip(kappa, self.deltas(w, kappa)))
        steps = 0
        for u in self.order:
            self.waiting.append(scaled(delta[u], 1.0 / math.sqrt(1.0 + steps)))
            if len(self.waiting) == self.buffer:
                w = add(w, weighted_sum([1.0 / self.buffer] * self.buffer, self.waiting))
                self.waiting = []
                steps += 1
        return w


class FedAsync(Algorithm):
    mixing = 0.4
    settings = {"aggregator.fedasync.mixing": mixing}

    def round(self, t, w, kappa):
        trained = {u: add(w, delta) for u, delta in zip(kappa, self.deltas(w, kappa))}
        for steps, u in enumerate(self.order):
            a = self.mixing / math.sqrt(steps + 1.0)
            w = add(scaled(w, 1.0 - a), trained[u], a)
        return w


class AirComp(Algorithm):
    truncation_db, server_rate, noise_w = 3.0, 1.5, 540e3 * 1e-3 * 10.0 ** -17.4
    settings = {"aggregator.aircomp.truncation_db": truncation_db,
                "aggregator.aircomp.server_learning_rate": server_rate}

    def noise(self, t, i):
        n = 4 * (i % 256)
        return normal(words(self.seed, KIND_AGGREGATOR, 0, NO_CLIENT, t, i // 256, n + 4)[n:])

    def round(self, t, w, kappa):
        gains = sorted(self.link[u][0] for u in kappa)
        least = gains[len(gains) // 2] * 10.0 ** (-self.truncation_db / 10.0)
        heard = {u: k for u, k in kappa.items() if self.link[u][0] >= least}
        shares, deltas = self.shares(heard), self.deltas(w, heard)
        scale = math.sqrt(min(power * gain * len(w) / (share ** 2 * dot(delta, delta))
                              for share, delta, (gain, power)
                              in zip(shares, deltas, (self.link[u] for u in heard))))
        noise = self.exported([self.noise(t, i) for i in range(len(w))])
        update = add(weighted_sum(shares, deltas), noise, math.sqrt(self.noise_w) / scale)
        return add(w, update, self.server_rate)

    def exported(self, inner):
        """Weights [feature][label] as [label][feature], then the biases."""
        labels, features = len(self.clients[0].histogram), len(self.clients[0].points[0])
        return [inner[f * labels + c] for c in range(labels) for f in range(features)] + \
            inner[labels * features:]


class Median(Algorithm):
    def location(self, values):
        values, n = sorted(values), len(values)
        return (values[(n - 1) // 2] + values[n // 2]) / 2

    def round(self, t, w, kappa):
        return add(w, [self.location(column) for column in zip(*self.deltas(w, kappa))])


class TrimmedMean(Median):
    plugin = "trimmed_mean"
    settings = {"aggregator.trimmed_mean.trim": 0.25}

    def location(self, values):
        values, cut = sorted(values), len(values) // 4
        kept = values[cut:len(values) - cut]
        return sum(kept) / len(kept)


class Krum(Algorithm):
    byzantine = 1

    def round(self, t, w, kappa):
        deltas = self.deltas(w, kappa)
        neighbours = max(1, len(deltas) - self.byzantine - 2)
        scores = []
        for k, x in enumerate(deltas):
            gaps = [add(x, y, -1.0) for j, y in enumerate(deltas) if j != k]
            scores.append(sum(sorted(dot(gap, gap) for gap in gaps)[:neighbours]))
        return add(w, deltas[scores.index(min(scores))])


class Scaffold(Algorithm):
    server_rate = 0.8
    settings = {"aggregator.scaffold.server_learning_rate": server_rate}

    def __init__(self, *facts):
        super().__init__(*facts)
        self.server = None

    def new_variate(self, u, w, y, k):
        drift = scaled(add(w, y, -1.0), 1.0 / (k * self.rate))
        return add(add(self.own[u], self.server, -1.0), drift)

    def round(self, t, w, kappa):
        if self.server is None:
            self.server = [0.0] * len(w)
            self.own = [[0.0] * len(w) for _ in self.clients]
        deltas, changes = [], []
        for u, k in kappa.items():
            correction = add(self.server, self.own[u], -1.0)
            y = local_sgd(self.clients[u], w, k, self.rate, correction=correction)
            fresh = self.new_variate(u, w, y, k)
            deltas.append(add(y, w, -1.0))
            changes.append(add(fresh, self.own[u], -1.0))
            self.own[u] = fresh
        n = len(kappa)
        self.server = add(self.server, weighted_sum([1.0 / len(self.clients)] * n, changes))
        return add(w, weighted_sum([self.server_rate / n] * n, deltas))


class ScaffoldGradient(Scaffold):
    """Option I: the new variate is the gradient at w."""

    plugin = "scaffold"
    settings = {**Scaffold.settings, "optimizer.scaffold.option": '"gradient"'}

    def new_variate(self, u, w, y, k):
        return self.clients[u].gradient(w)


class Genie(Algorithm):
    """Plain SGD on the union of all stores; with full gradients."""

    steps = 6
    settings = {"aggregator.genie.steps": steps}

    def round(self, t, w, kappa):
        for _ in range(self.steps):
            gradient = weighted_sum(self.alpha, [client.gradient(w) for client in self.clients])
            w = add(w, gradient, -self.rate)
        return w


class OSAFL(Algorithm):
    """Eqs. (globalUpdateRule), (sub_optim_score) and (eta_ef), with the readings [R]."""

    rate_global, chi, mix, decay, offset, final = 3.0, 1.0, 0.75, 10.0, 0.3, 0.65
    settings = {"aggregator.osafl.global_learning_rate": rate_global}

    def __init__(self, *facts):
        super().__init__(*facts)
        self.participations = [0] * len(self.clients)
        self.direction = None
        self.scores = []  # of each round: {client: delta_u}

    def round(self, t, w, kappa):
        present = list(kappa)
        q = [scaled(delta, -1.0 / k)
             for delta, k in zip(self.deltas(w, kappa), kappa.values())]
        weights = [self.alpha[u] * k for u, k in kappa.items()]
        direction = weighted_sum(scaled(weights, 1.0 / sum(weights)), q)
        similarity = [(self.chi + cosine(x, direction)) / (self.chi + 1.0) for x in q]
        all_participations = sum(self.participations)
        if t == 0:
            score = scaled(similarity, 1.0 / sum(similarity))
            step = 1.0
        else:
            score = []
            for u, value in zip(present, similarity):
                share = self.participations[u] / all_participations if all_participations else 0.0
                participation = math.exp(1.0 - self.decay * share)
                score.append((self.mix * participation + (1.0 - self.mix) * value) * kappa[u])
            before = self.direction
            turn = cosine(before, direction) if before is not None else 0.0
            schedule = 1.0 - (1.0 - self.final) * t / (self.rounds - 1)
            step = schedule * math.exp(turn - self.offset)
        weights = [self.alpha[u] * s for u, s in zip(present, score)]
        factor = self.rate_global * step / sum(weights)
        self.direction = direction
        for u in present:
            self.participations[u] += 1
        self.scores.append(dict(zip(present, score)))
        return add(w, weighted_sum(weights, q), -factor)


ALGORITHMS = [FedAvg, FedAvgLiteral, FedProx, FedNova, FedNovaPrinted, FedDisco, FedDiscoKL, AFA_CD,
              AFA_CS, FedAvgM, FedAdam, FedYogi, FedBuff, FedAsync, AirComp, Median, TrimmedMean, Krum,
              Scaffold, ScaffoldGradient, Genie, OSAFL]


def plugin_of(algorithm):
    return getattr(algorithm, "plugin", algorithm.__name__.lower())
