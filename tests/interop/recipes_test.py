"""The programs in Python in docs/, run as they stand there: recipes_test.py LIBRARY."""

import pathlib
import re
import subprocess
import sys

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"

for page in sorted(DOCS.glob("*.md")):
    for program in re.findall(r"^```python\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE):
        print(page.name, flush=True)
        subprocess.run([sys.executable, "-c", program, *sys.argv[1:]], check=True)
