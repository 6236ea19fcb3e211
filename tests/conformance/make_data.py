"""make_data.py FOLDER - small files for the plugins that read some: IDX, CIFAR, CSV, NumPy, and a trace
of gains."""
import os
import random
import struct
import sys

folder = sys.argv[1]
draw = random.Random(1)


def write(name, data):
    with open(os.path.join(folder, name), "wb") as out:
        out.write(data)


def idx(samples):
    pixels = bytes(draw.randrange(256) for _ in range(samples * 64))
    labels = bytes(i % 10 for i in range(samples))
    return (struct.pack(">IIII", 2051, samples, 8, 8) + pixels,
            struct.pack(">II", 2049, samples) + labels)


def npy(kind, shape, data):
    head = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (kind, shape)
    head += " " * (63 - (10 + len(head)) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + data


for part, samples in (("train", 120), ("t10k", 40)):
    images, labels = idx(samples)
    write(part + "-images-idx3-ubyte", images)
    write(part + "-labels-idx1-ubyte", labels)

# Black pictures of class 0, as holes that take no room on the disk.
for batch in ["data_batch_%d" % i for i in range(1, 6)] + ["test_batch"]:
    with open(os.path.join(folder, batch + ".bin"), "wb") as out:
        out.truncate(10000 * 3073)
for part, samples in (("train", 50000), ("test", 10000)):
    with open(os.path.join(folder, part + ".bin"), "wb") as out:
        out.truncate(samples * 3074)

rows = ["a,b,c,who,when,kind"]
for i in range(90):
    values = ["%.4f" % draw.gauss(0, 1) for _ in range(3)]
    rows.append(",".join(values + ["client%d" % (i % 4), str(i * 37 % 90), "abc"[i % 3]]))
write("table.csv", "\n".join(rows).encode() + b"\n")

rows = ["age;town;income;kind"]
for i in range(90):
    rows.append(";".join([str(20 + i % 50), ["Oslo", "Rome", ""][i % 3],
                          "NA" if i % 7 == 0 else "%d,5" % (1000 + i), "abc"[i % 3]]))
write("mixed.csv", "\n".join(rows).encode() + b"\n")

rows = ["%+d " % (i % 3 - 1) + " ".join("%d:%.3f" % (k, draw.gauss(0, 1)) for k in (1 + i % 2, 4, 6))
        for i in range(90)]
write("sparse.txt", "\n".join(rows).encode() + b"\n")

values = [draw.gauss(0, 1) for _ in range(90 * 6)]
write("x.npy", npy("<f4", "(90, 6)", struct.pack("<540f", *values)))
write("y.npy", npy("<i8", "(90,)", struct.pack("<90q", *[i % 3 for i in range(90)])))
write("client.npy", npy("<i8", "(90,)", struct.pack("<90q", *[i % 4 for i in range(90)])))
write("time.npy", npy("<i4", "(90,)", struct.pack("<90i", *[i * 37 % 90 for i in range(90)])))

rows = [",".join("u%d" % u for u in range(7))]
for _ in range(12):
    rows.append(",".join("%.3e" % 10 ** draw.uniform(-12, -8) for _ in range(7)))
write("gains.csv", "\n".join(rows).encode() + b"\n")

rows = ["round,client,samples,present"]
for i in range(20):
    rows.append("%d,%d,%d,%d" % (i // 4, i % 4, i % 3, i % 5 > 0))
write("arrivals.csv", "\n".join(rows).encode() + b"\n")

rows = ["sample,client"] + ["%d,%d" % (i, i % 7) for i in range(0, 100, 2)]
write("owners.csv", "\n".join(rows).encode() + b"\n")
