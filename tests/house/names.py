"""names.py SOURCE-TREE: the core knows no algorithm.

No string of core/ names a plugin or a setting that only plugins have, but for the places listed
here, each with its reason."""
import pathlib
import re
import sys

COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
STRING = re.compile(r'"((?:\\.|[^"\\\n])*)"')
PLUGIN = re.compile(r'\.kind = OSAFL_KIND_(\w+),\s*\.name = "(\w+)"')
SETTING = re.compile(r"\bOSAFL_(?:BOOL|INT|INT_OR|REAL|TEXT|PATH|CHOICE|RANGE|REALS|ROWS)\("
                     r"\s*(?:struct )?\w+,\s*([\w.]+),")

# Where plugins may be named.
ALLOWED = {
    "plugin/kinds.c": "the defaults of kinds that files of before do not name",
    "experiment/old_keys.c": "what to write instead of a key that is refused",
    "command/cli_help.c": "examples in the help",
    "command/cli_options.c": "examples in the help",
    "command/verify/pack_command.c": "an example in the help",
    "command/sweep/tune_range.c": "an example in a message",
    "command/report/cell_finder.c": "an example in a message",
    "command/report/report_tables.c": "the setting by which published tables are told apart",
    "command/bench/bench_model.c": "the model whose layers a file lists",
    "command/bench/bench_command.c": "the networks whose speed is measured where none is named",
    "round/theory_constants.c": "for which plugins the constants of the convergence bound are known",
    "command/plugin/plugin_new.c": "the partners of a new plugin in its first experiment",
}
# Words that are also the name of a plugin.
WORDS = {
    "all": "everything", "csv": "a form of a table", "energy": "a reason to sit out",
    "none": "nothing", "osafl": "the program",
}
# Settings of plugins whose names are words of the core's own files, columns and messages.
TERMS = set("""classes client clock_hz features from groups label last layers local_rounds
            missing name participation path power_w round spread steps target
            test time validation x y""".split())


def strings(text):
    return STRING.findall(COMMENT.sub("", text))


def breaches(text, plugins, settings):
    """What the strings of a C text name: plugins (name: its kinds), settings (a set)."""
    for string in strings(text):
        for name, kinds in plugins.items():
            place = r"\b(%s)[./]%s\b" % ("|".join(kinds), name)
            if (string == name and name not in WORDS) or '\\"%s\\"' % name in string or \
                    re.search(place, string):
                yield name
        if string in settings:
            yield string


PLANTED = r"""
/* "krum" */
static const char *a = "krum is no name here", *b = "trim", *c = "none";
if (strcmp(name, "krum") == 0 || set("aggregator.krum.trim") || say("such as \"krum\""))
"""


def main():
    found = list(breaches(PLANTED, {"krum": {"aggregator"}, "none": {"drift"}}, {"trim"}))
    assert found == ["trim", "krum", "krum", "krum"], "the check misses a planted breach"
    root = pathlib.Path(sys.argv[1])
    plugins = {}
    settings = set()
    for path in sorted((root / "plugins").rglob("*.[ch]")):
        text = COMMENT.sub("", path.read_text())
        for kind, name in PLUGIN.findall(text):
            plugins.setdefault(name, set()).add(kind.lower())
        settings.update(SETTING.findall(text))
    assert len(plugins) > 60 and len(settings) > 120, "plugins are not found"
    own = set()
    for path in (root / "core" / "experiment").glob("schema.c"):
        own.update(SETTING.findall(COMMENT.sub("", path.read_text())))
    wrong = 0
    unused = set(ALLOWED)
    for path in sorted((root / "core").rglob("*.[ch]")):
        place = path.relative_to(root / "core").as_posix()
        for name in breaches(path.read_text(), plugins, settings - own - TERMS):
            unused.discard(place)
            if place not in ALLOWED:
                print("core/%s names \"%s\", which is a plugin or a setting of one" % (place, name))
                wrong += 1
    for place in sorted(unused):
        print("core/%s is listed in names.py and names no plugin" % place)
    return 1 if wrong or unused else 0


if __name__ == "__main__":
    sys.exit(main())
