#!/usr/bin/env python3
"""arrows.py SOURCE_DIR [ROOM=LIBRARY...] - the walls of the core.

core/CMakeLists.txt names the rooms and which rooms each may use (osafl_room(NAME USES ...)); what a
used room uses is allowed too.  Checked here:
  - no circle between rooms;
  - every quoted include of a room leads to its own folder, to an allowed room or to include/osafl,
    by a path that names the room (no "..");
  - every symbol that an object of a room's LIBRARY takes from another room comes from an allowed
    one (nm);
  - core/README.md draws the same arrows.
Prints one line for each breach; exit status 1 when there is any."""
import pathlib
import re
import subprocess
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
ROOM = re.compile(r"^osafl_room\((\w+)([^)]*)\)", re.M)


def read_rooms(text):
    """{room: rooms that it names}."""
    rooms = {}
    for name, rest in ROOM.findall(text):
        words = rest.split()
        uses = []
        if "USES" in words:
            for word in words[words.index("USES") + 1:]:
                if word.isupper():
                    break
                uses.append(word)
        rooms[name] = uses
    return rooms


def find_circle(rooms):
    """A list of rooms that lead back to the first; None: there is none."""
    def walk(room, path):
        if room in path:
            return path[path.index(room):] + [room]
        for used in rooms.get(room, []):
            circle = walk(used, path + [room])
            if circle:
                return circle
        return None
    return next(filter(None, (walk(room, []) for room in rooms)), None)


def reachable(rooms, room):
    found, todo = set(), [room]
    while todo:
        at = todo.pop()
        if at not in found:
            found.add(at)
            todo += rooms.get(at, [])
    return found


def folder_of(top, room):
    return top / "sdk" / "check" if room == "check" else top / "core" / room


def check_includes(top, rooms):
    breaches = []
    for room in rooms:
        allowed = reachable(rooms, room)
        folder = folder_of(top, room)
        for path in sorted(folder.rglob("*.[ch]")):
            for header in INCLUDE.findall(path.read_text()):
                first = header.split("/")[0]
                beside = "/" not in header and (path.parent / header).is_file()
                public = first == "osafl" and (top / "include" / header).is_file()
                other = first in allowed and (folder_of(top, first).parent / header).is_file()
                if not (beside or public or (other and ".." not in header)):
                    breaches.append(f"{path.relative_to(top)} includes \"{header}\": {room} may use "
                                    + (", ".join(sorted(allowed - {room})) or "no other room"))
    return breaches


def symbols(library):
    """{defined name}, {name: object that takes it}."""
    defined, taken = set(), {}
    output = subprocess.run(["nm", "-A", library], check=True, capture_output=True, text=True).stdout
    for line in output.splitlines():
        where, _, rest = line.rpartition(":")
        words = rest.split()
        if len(words) >= 2 and words[-2] == "U":
            taken.setdefault(words[-1], where.split(":")[-1])
        elif len(words) >= 2 and words[-2] in "TDBRVWC":
            defined.add(words[-1])
    return defined, taken


def check_symbols(rooms, libraries):
    breaches = []
    table = {room: symbols(library) for room, library in libraries.items()}
    owner = {name: room for room, (defined, _) in table.items() for name in defined}
    for room, (_, taken) in table.items():
        allowed = reachable(rooms, room)
        for name, by in sorted(taken.items()):
            if owner.get(name, room) not in allowed:
                breaches.append(f"{room}: {by} takes {name}() from {owner[name]}")
    return breaches


def check_map(top, rooms):
    """Lines "    room -> used, used" of core/README.md."""
    drawn = {}
    for line in (top / "core" / "README.md").read_text().splitlines():
        match = re.match(r"\s+(\w+)\s+-> *([\w, ]*)$", line)
        if match:
            drawn[match.group(1)] = sorted(w for w in re.split(r"[ ,]+", match.group(2)) if w)
    wanted = {room: sorted(uses) for room, uses in rooms.items()}
    return [] if drawn == wanted else [f"core/README.md draws {drawn}, CMakeLists.txt has {wanted}"]


def check(top, libraries):
    rooms = read_rooms((top / "core" / "CMakeLists.txt").read_text())
    if not rooms:
        return ["core/CMakeLists.txt names no room"]
    circle = find_circle(rooms)
    if circle:
        return ["a circle of rooms: " + " -> ".join(circle)]
    strangers = sorted(p.name for p in (top / "core").iterdir()
                       if p.name not in rooms and p.name not in ("CMakeLists.txt", "README.md"))
    return ([f"core/{name} is no room" for name in strangers] + check_includes(top, rooms)
            + check_symbols(rooms, libraries) + check_map(top, rooms))


def main():
    top = pathlib.Path(sys.argv[1]).resolve()
    breaches = check(top, dict(argument.split("=", 1) for argument in sys.argv[2:]))
    print("\n".join(breaches), end="\n" if breaches else "")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
