"""The examples of README.md."""

import ast
import re
from pathlib import Path

import activity_rank
import pytest

README = Path(__file__).parent.with_name("README.md").read_text()
EXAMPLES = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
CLASSES = {"client": activity_rank.Client, "sender": activity_rank.BatchSender}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.split("\n", 1)[0])
def test_example_uses_what_exists(example: str) -> None:
    # Awaits stand outside of functions.
    tree = compile(example, "README.md", "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "activity_rank":
            assert {alias.name for alias in node.names} <= set(activity_rank.__all__)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in CLASSES:
            assert hasattr(CLASSES[node.value.id], node.attr), node.attr


def test_readme_has_examples() -> None:
    assert len(EXAMPLES) == 10
