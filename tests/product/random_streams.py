"""The random numbers of sdk/RANDOM.md, from that page alone."""
import math

MASK = 0xFFFFFFFF
NO_CLIENT = MASK
KIND_MODEL, KIND_CHANNEL, KIND_AGGREGATOR = 2, 3, 8


def philox(counter, key):
    """Philox4x32-10."""
    c, k = list(counter), list(key)
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(b >> 32) ^ c[1] ^ k[0], b & MASK, (a >> 32) ^ c[3] ^ k[1], a & MASK]
        k = [(k[0] + 0x9E3779B9) & MASK, (k[1] + 0xBB67AE85) & MASK]
    return c


def words(seed, kind, purpose, client, round_, index, n):
    key = philox((client, round_, purpose, kind | 0x4F530000), (seed & MASK, seed >> 32))[:2]
    result = []
    for block in range((n + 3) // 4):
        result += philox((block & MASK, block >> 32, index & MASK, index >> 32), key)
    return result[:n]


def uniform(w):
    return (((w[0] << 32) | w[1]) >> 11) * 2.0 ** -53


def normal(w):
    return math.sqrt(-2.0 * math.log(uniform(w) + 2.0 ** -54)) * math.cos(
        6.283185307179586476925 * uniform(w[2:]))
