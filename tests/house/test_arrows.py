#!/usr/bin/env python3
"""test_arrows.py - arrows.py finds each breach that is planted into a small house."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import arrows

ROOMS = "osafl_room(base)\nosafl_room(world USES base)\nosafl_room(round USES world SOURCES x.c)\n"
MAP = "    base  ->\n    world -> base\n    round -> world\n"


class House(unittest.TestCase):
    def setUp(self):
        self.top = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.top)
        self.write("core/CMakeLists.txt", ROOMS)
        self.write("core/README.md", MAP)
        self.write("core/base/text.h", "int text(void);\n")
        self.write("core/base/text.c", '#include "text.h"\nint text(void) { return 1; }\n')
        self.write("core/world/world.h", "int world(void);\n")
        self.write("core/world/world.c",
                   '#include "world.h"\n#include "base/text.h"\nint world(void) { return text(); }\n')
        self.write("core/round/round.h", "int play(void);\n")
        self.write("core/round/round.c", '#include "round.h"\n#include "base/text.h"\n'
                                         '#include "world/world.h"\nint play(void) { return 0; }\n')

    def write(self, path, text):
        path = self.top / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def append(self, path, text):
        self.write(path, (self.top / path).read_text() + text)

    def assert_breach(self, *words, compiles=True):
        found = arrows.check(self.top, self.build() if compiles else {})
        self.assertEqual(len(found), 1, found)
        for word in words:
            self.assertIn(word, found[0])

    def build(self):
        libraries = {}
        for room in ("base", "world", "round"):
            sources = sorted((self.top / "core" / room).glob("*.c"))
            objects = []
            for source in sources:
                objects.append(source.with_suffix(".o"))
                subprocess.run(["cc", "-c", "-I", self.top / "core", source, "-o", objects[-1]],
                               check=True)
            libraries[room] = self.top / f"lib{room}.a"
            subprocess.run(["ar", "rc", libraries[room], *objects], check=True)
        return libraries

    def test_sound(self):
        self.assertEqual(arrows.check(self.top, self.build()), [])

    def test_include_against_the_arrows(self):
        self.append("core/base/text.c", '#include "world/world.h"\n')
        self.assert_breach("core/base/text.c", "world/world.h", "no other room")

    def test_include_by_a_relative_path(self):
        self.append("core/base/text.c", '#include "../world/world.h"\n')
        self.assert_breach("core/base/text.c", "../world/world.h")

    def test_include_that_names_no_room(self):
        self.append("core/round/round.c", '#include "text.h"\n')
        self.assert_breach("core/round/round.c", '"text.h"', compiles=False)

    def test_symbol_against_the_arrows(self):
        self.append("core/base/text.c", "int play(void);\nint use(void) { return play(); }\n")
        self.assert_breach("base", "text.o", "play()", "round")

    def test_circle(self):
        self.write("core/CMakeLists.txt", ROOMS.replace("(base)", "(base USES round)"))
        self.assert_breach("circle", "base -> round -> world -> base")

    def test_file_outside_a_room(self):
        self.write("core/stray.c", "")
        self.assert_breach("core/stray.c is no room")

    def test_map_that_differs(self):
        self.write("core/README.md", MAP.replace("-> world", "-> base"))
        self.assert_breach("README.md")


if __name__ == "__main__":
    unittest.main()
