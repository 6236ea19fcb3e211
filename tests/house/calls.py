"""calls.py SOURCE-TREE: between call_begin() and call_end() no function has a way out.

A call that is never ended leaves the thread inside a plugin for good: the next crash and the
watchdog of core/plugin/guard.c would blame a plugin that has returned.  Functions named *_begin
hand an open call out; their *_end counterpart closes it."""
import pathlib
import re
import sys

FUNCTION = re.compile(r"^[A-Za-z_][^;{}=]*?\b(\w+)\([^;{}]*\)\n\{\n(.*?)^\}\n",
                      re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"/\*.*?\*/|\"(?:\\.|[^\"\\])*\"", re.DOTALL)
END = re.compile(r"\b\w*end_(?:call|describe)\(|\bcall_end(?:_named)?\(")
EXIT = re.compile(r"\b(return|OSAFL_TRY|goto|longjmp|exit|break|continue)\b")


def open_calls(text):
    """The names of the functions that may leave while a call is open."""
    code = COMMENT.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)
    for name, body in FUNCTION.findall(code):
        if name.endswith("_begin"):
            continue
        for begin in re.finditer(r"\bcall_begin\(", body):
            end = END.search(body, begin.end())
            between = body[begin.end():end.start()] if end else None
            # The last statement is the one that ends the call: `return call_end(...)`.
            if between is None or EXIT.search(between[:between.rfind(";") + 1]):
                yield name


PLANTED = """
static osafl_status early(struct osafl_call *c)
{
    call_begin(c, i, 0, 0);
    if (bad)
        return OSAFL_E_BUG;
    return call_end(c, OSAFL_OK);
}

static void never(struct osafl_call *c)
{
    call_begin(c, i, 0, 0);
}

static osafl_status sound(struct osafl_call *c)
{
    OSAFL_TRY(before());
    call_begin(c, i, 0, 0);
    OSAFL_TRY(call_end(c, use(c))); /* return */
    return OSAFL_OK;
}
"""


def main():
    assert list(open_calls(PLANTED)) == ["early", "never"], "the check misses a planted breach"
    root = pathlib.Path(sys.argv[1])
    files = [p for room in ("core", "sdk", "tests") for p in sorted((root / room).rglob("*.c"))]
    functions = 0
    wrong = 0
    for path in files:
        text = path.read_text(encoding="utf-8")
        functions += len(re.findall(r"\bcall_begin\(", text))
        for name in open_calls(text):
            print(f"{path.relative_to(root)}: {name}() may return before call_end()")
            wrong += 1
    assert functions > 30, "too few calls were found: does the pattern still fit?"
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
