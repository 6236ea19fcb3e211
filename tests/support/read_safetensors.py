"""Reads a safetensors file with nothing but the standard library, checks its structure, and prints
one line for every tensor: name, shape, first and last value, sum of the values.

usage: read_safetensors.py FILE
"""
import json
import math
import struct
import sys


def read(path):
    """Returns (metadata, {name: (shape, values)}) in the order of the data; ValueError if bad."""
    with open(path, "rb") as file:
        data = file.read()
    (length,) = struct.unpack_from("<Q", data)
    if length > len(data) - 8:
        raise ValueError("the header is longer than the file")
    if (8 + length) % 8 != 0:
        raise ValueError("the tensors are not 8-byte aligned")
    header = json.loads(data[8 : 8 + length].decode("utf-8"))
    body = data[8 + length :]
    metadata = header.pop("__metadata__", {})
    if not all(isinstance(value, str) for value in metadata.values()):
        raise ValueError("metadata may hold strings only")
    tensors = {}
    end = 0
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        begin, stop = entry["data_offsets"]
        size = math.prod(entry["shape"])
        if entry["dtype"] != "F32" or stop - begin != 4 * size:
            raise ValueError(f"{name}: type, shape and offsets do not agree")
        if begin != end:
            raise ValueError(f"{name}: a gap or an overlap before byte {begin}")
        tensors[name] = (entry["shape"], struct.unpack_from(f"<{size}f", body, begin))
        end = stop
    if end != len(body):
        raise ValueError(f"{len(body) - end} bytes behind the last tensor")
    return metadata, tensors


def main():
    metadata, tensors = read(sys.argv[1])
    for key in sorted(metadata):
        print(f"metadata {key} {metadata[key]}")
    for name, (shape, values) in tensors.items():
        print(name, "x".join(map(str, shape)), values[0], values[-1], math.fsum(values))


if __name__ == "__main__":
    main()
