"""What is generated from the OpenAPI document."""

import ast
import inspect
import json
from pathlib import Path

import activity_rank
import generate
import pytest
from activity_rank.operations import AsyncOperations, Operations
from activity_rank.routes import ALL

DOCUMENT = json.loads(generate.DOCUMENT.read_text())
OPERATIONS = {
    operation["operationId"]: (verb.upper(), path)
    for path, item in DOCUMENT["paths"].items()
    for verb, operation in item.items()
    if verb != "parameters"
}
METHODS = {name for name in vars(Operations) if not name.startswith("_")}


@pytest.mark.parametrize("path", generate.generate(), ids=lambda path: path.name)
def test_generated_file_is_up_to_date(path: Path) -> None:
    assert path.read_text() == generate.generate()[path], "run python generate.py"


def test_every_operation_has_a_route() -> None:
    assert {route.operation: (route.method, route.path) for route in ALL} == OPERATIONS


@pytest.mark.parametrize("operations", [Operations, AsyncOperations])
def test_every_operation_has_a_method(operations: type) -> None:
    expected = {generate.snake(operation) for operation in OPERATIONS} | {"count_activities", "undo_activity"}
    assert {name for name in vars(operations) if not name.startswith("_")} == expected


@pytest.mark.parametrize("name", sorted(METHODS))
def test_methods_have_the_same_parameters(name: str) -> None:
    blocking, asynchronous = (inspect.signature(getattr(kind, name)) for kind in (Operations, AsyncOperations))
    assert blocking.parameters == asynchronous.parameters
    assert str(asynchronous.return_annotation) in (
        str(blocking.return_annotation),
        str(blocking.return_annotation).replace("Iterator", "AsyncIterator"),
    )


def test_every_method_is_called_by_a_test() -> None:
    source = Path(__file__).with_name("test_routes.py").read_text()
    called = {
        node.attr
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ("api", "public")
    }
    assert called >= METHODS, METHODS - called


def test_package_exports_what_exists() -> None:
    assert all(hasattr(activity_rank, name) for name in activity_rank.__all__)
