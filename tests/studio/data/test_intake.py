"""Column roles as people edit them become options for reading, and reading with them gives what was meant."""

import pytest

from deem_core import readers
from deem_core.errors import InputError
from studio.data.intake import ROLES, reading_of, without

WIDE = b"id,a,b,c,d,label\n1,x,y,x,x,x\n2,y,y,x,y,y\n3,x,x,y,x,x\n"
LONG = b"task,worker,label\n" + b"".join(
    f"t{i},w{j},{'xy'[(i * j) % 2]}\n".encode() for i in range(4) for j in range(4)
)


def roles_of(data, **options):
    played = readers.read(data, **options).report.roles
    return {name: {"ignored": "ignore"}.get(role, role) for name, role in played.items()}


def test_roles_as_found_read_the_same():
    for data in (WIDE, LONG):
        found = readers.read(data)
        again = readers.read(data, **reading_of(found.report.layout, roles_of(data), {}))
        assert again.votes.learners == found.votes.learners
        assert (again.votes.codes == found.votes.codes).all()
        assert again.report.roles == found.report.roles


@pytest.mark.parametrize(
    ("column", "role", "learners"),
    [
        ("a", "ignore", ["b", "c", "d"]),
        ("label", "learner", ["a", "b", "c", "d", "label"]),
        ("label", "ignore", ["a", "b", "c", "d"]),
        ("id", "ignore", ["a", "b", "c", "d"]),
    ],
)
def test_a_changed_role_is_what_the_file_is_read_with(column, role, learners):
    options = reading_of("wide", roles_of(WIDE) | {column: role}, {})
    reading = readers.read(WIDE, **options)
    assert list(reading.votes.learners) == learners
    assert roles_of(WIDE, **options)[column] == role


def test_the_truth_can_move_to_another_column():
    reading = readers.read(WIDE, **reading_of("wide", roles_of(WIDE) | {"label": "learner", "d": "truth"}, {}))
    assert reading.report.column("truth") == "d"
    assert "label" in reading.votes.learners


@pytest.mark.parametrize("role", ["id", "truth"])
def test_a_role_for_one_is_not_given_twice(role):
    with pytest.raises(InputError, match="Only one column"):
        reading_of("wide", roles_of(WIDE) | {"a": role, "b": role}, {})


@pytest.mark.parametrize("column", ["task", "worker", "label"])
def test_a_long_file_keeps_its_three_columns(column):
    with pytest.raises(InputError, match="needs a column"):
        reading_of("long", roles_of(LONG) | {column: "ignore"}, {})


@pytest.mark.parametrize(("data", "learner"), [(WIDE, "b"), (LONG, "w2")])
def test_a_learner_left_out_stays_out_when_a_role_changes(data, learner):
    options = without([learner], {})
    assert learner not in readers.read(data, **options).votes.learners
    layout = readers.read(data, **options).report.layout
    later = reading_of(layout, roles_of(data, **options), options)
    assert learner not in readers.read(data, **later).votes.learners


def test_delimiter_and_encoding_are_kept():
    options = reading_of("wide", roles_of(WIDE), {"delimiter": "comma", "encoding": "cp1252", "ignore": ["b"]})
    assert (options["delimiter"], options["encoding"]) == ("comma", "cp1252")


def test_every_layout_has_an_id_a_truth_and_a_way_to_ignore():
    assert all({"id", "truth", "ignore"} <= set(roles) for roles in ROLES.values())
