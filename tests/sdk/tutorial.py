"""tutorial.py DOCUMENT TEMPLATE FOLDER - prepares FIRST_AGGREGATOR.md for a try.

Blocks marked c must stand in the template, line by line and in this order; the block marked c+ is
what the reader adds. FOLDER gets commands.sh, all blocks marked sh, with a line "#EDIT" where the
reader changes the source, and edit.py, which does it."""
import re
import sys

document, template, folder = sys.argv[1:4]
text = open(document).read()
source = open(template).read()

commands = ["set -e"]
addition = None
for kind, block in re.findall(r"^```(\S+)\n(.*?)^```$", text, re.S | re.M):
    if kind == "c":
        if block not in source:
            sys.exit("the template does not contain:\n" + block)
    elif kind == "c+":
        addition = block
        commands.append("python3 %s/edit.py my_rule/my_rule.c" % folder)
    elif kind == "sh":
        commands.append(block)
    else:
        sys.exit("a block of an unknown kind: " + kind)

anchor = "        weight[k] = u->alpha[k] / total;\n"
if addition is None or source.count(anchor) != 1:
    sys.exit("the place of the addition is not found")
with open(folder + "/commands.sh", "w") as out:
    out.write("\n".join(commands))
with open(folder + "/edit.py", "w") as out:
    out.write("import sys\nname = sys.argv[1]\ntext = open(name).read()\n"
              "open(name, 'w').write(text.replace(%r, %r))\n" % (anchor, anchor + addition))
