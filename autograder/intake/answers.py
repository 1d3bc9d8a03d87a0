"""Which cells of a submitted notebook hold the student's answers.

A cell is known by nbgrader's ``grade_id``. Editors strip that mark or make a new one, and students copy cells. So an
answer is also known by the function that it defines, by Jupyter's id, and a text by the question above it.
Of several cells that define a function the last one counts, as it does in the student's own kernel when all cells run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from autograder.console import counted
from autograder.course.homework import Assignment, Cell
from autograder.course.programs import Program, read_program
from autograder.intake.notebook import LONGEST_SOURCE, RawCell


@dataclass
class Answers:
    """``cells``: grade_id -> the answer. ``used``: the places of the cells that became one, or hold
    nothing of the student's.

    ``doubts``: grade_id -> why a person should look at the answer if it turns out to be wrong.
    """

    cells: dict[str, RawCell] = field(default_factory=dict)
    used: set[int] = field(default_factory=set)
    doubts: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


#: Is this text, of the student's cell, still what was handed out there, or nothing?
IsUnwritten = Callable[[Cell, str], bool]


def match_answers(cells: Sequence[RawCell], homework: Assignment, is_unwritten: IsUnwritten | None = None) -> Answers:
    """Find the answers of a homework in a notebook."""

    def as_released(cell: Cell, source: str) -> bool:
        return source.strip() in ("", homework.released[cell.grade_id].strip())

    return _Matching(cells, homework, is_unwritten or as_released).answers()


class _Matching:
    def __init__(self, cells: Sequence[RawCell], homework: Assignment, is_unwritten: IsUnwritten) -> None:
        self.cells, self.homework, self.is_unwritten, self.result = cells, homework, is_unwritten, Answers()
        self.known = known_sources(homework)
        self.lost = {i for i, raw in enumerate(cells) if raw.grade_id not in homework.by_grade_id}
        self.programs = [read_program(raw.source) if self.is_students(raw) else Program() for raw in cells]
        self.functions = set[str]().union(*homework.functions.values())
        self.marks = {raw.grade_id for raw in cells}
        self.without_mark: list[str] = []

    def answers(self) -> Answers:
        wanted = [cell for cell in self.homework.cells if cell.role in ("solution", "written")]
        for cell in wanted:
            places = self.code(cell) if cell.role == "solution" else self.text(cell)
            if not places:
                self.result.notes.append(f"The cell {cell.grade_id!r} is missing: it was deleted or renamed.")
                continue
            self.result.used.update(places)
            self.result.cells[cell.grade_id] = joined([self.own_part(self.cells[i]) for i in places])
            if all(i in self.lost for i in places) and cell.grade_id not in self.marks:
                self.without_mark.append(cell.grade_id)
        if self.without_mark:
            names, one = self.without_mark, len(self.without_mark) == 1
            shown = ", ".join(map(repr, names[:3])) + (", ..." if len(names) > 3 else "")
            how = "its function or its question, and counts" if one else "their functions and questions, and count"
            self.result.notes.append(
                f"nbgrader's mark is missing at {counted(len(names), 'answer')} ({shown}); "
                f"{'it was' if one else 'they were'} recognised by {how}."
            )
        return self.result

    def is_students(self, raw: RawCell) -> bool:
        """Is it code that the student wrote, wherever it stands? What stands in the place of a text is that text."""
        cell = self.homework.by_grade_id.get(raw.grade_id)
        is_text = cell is not None and cell.role == "written"
        return raw.kind == "code" and not is_text and raw.source.strip() not in self.known

    def defines(self, cell: Cell, place: int) -> bool:
        """Does the cell there define the function of this one? A number of that name does not count for one."""
        functions, program = self.homework.functions[cell.grade_id], self.programs[place]
        wanted = read_program(cell.source)
        return bool(functions & (program.functions | (program.variables if functions & wanted.variables else set())))

    def own_part(self, raw: RawCell) -> RawCell:
        """A cell without what was handed out there, where the student wrote into a cell that is graded."""
        cell = self.homework.by_grade_id.get(raw.grade_id)
        if cell is None or cell.role != "task":
            return raw
        return replace(raw, source=raw.source.replace(cell.visible.strip(), "", 1))

    def marked(self, cell: Cell) -> list[int]:
        """The cells with the mark of this one; without any, those that have lost it and have Jupyter's id."""
        own = [i for i, raw in enumerate(self.cells) if raw.grade_id == cell.grade_id]
        return own or [i for i in sorted(self.lost) if cell.cell_id and self.cells[i].cell_id == cell.cell_id]

    def code(self, cell: Cell) -> list[int]:
        """The cells that are the answer, in order: one, or what was written into its cell and then the function."""
        own = self.marked(cell)
        defining = [i for i in range(len(self.cells)) if self.defines(cell, i)]
        candidates = sorted({*own, *defining})
        if len(candidates) > 1:
            unwritten = {i for i in candidates if self.is_unwritten(cell, self.cells[i].source)}
            self.result.used |= unwritten
            candidates = [i for i in candidates if i not in unwritten] or own[:1] or candidates[:1]
        if not candidates:
            return []
        defining = [i for i in candidates if i in defining]
        last = (defining or candidates)[-1]
        text = self.cells[last].source.strip()
        rivals = [i for i in defining or candidates if self.cells[i].source.strip() != text]
        if rivals:
            numbers = " and ".join(str(i + 1) for i in [*rivals, last])
            doubt = (
                f"The answer {cell.grade_id!r} stands in the cells {numbers} of the notebook. Cell {last + 1} counts: "
                f"it is the last one when all cells run from top to bottom."
            )
            self.result.doubts[cell.grade_id] = doubt
            self.result.notes.append(doubt)
        self.result.used |= {i for i in candidates if self.cells[i].source.strip() == text}
        return self.with_what_it_needs(last, candidates, own, defining)

    def with_what_it_needs(self, last: int, candidates: list[int], own: list[int], defining: list[int]) -> list[int]:
        """The cell that counts, after the others that it builds on, and with the rest of a cell that was split."""
        places = {last, *(i for i in candidates if i in own and i not in defining)}
        for i in reversed([i for i in candidates if i < last]):
            names = self.programs[i].functions | self.programs[i].variables
            if any(names & self.programs[other].uses for other in places):
                places.add(i)
        if sum(len(self.cells[i].source) for i in places) > LONGEST_SOURCE:
            return [last]
        return sorted(places)

    def text(self, cell: Cell) -> list[int]:
        """The cells with a written answer. A person reads all of them."""
        own = self.marked(cell)
        below = self.below_the_question(cell)
        if own and (below or len(own) > 1):
            self.result.used.update(own)
            own = [i for i in own if not self.is_unwritten(cell, self.cells[i].source)] or ([] if below else own[:1])
        places = own or below
        while len(places) > 1 and sum(len(self.cells[i].source) for i in places) > LONGEST_SOURCE:
            places = places[:-1]
        return places

    def below_the_question(self, cell: Cell) -> list[int]:
        """The texts of the student's own between what stands above the answer and the next cell of the homework."""
        above = [one for one in self.homework.cells[: self.homework.cells.index(cell)] if one.role in ("given", "task")]
        anchor = next((i for i, raw in enumerate(self.cells) if above and is_same_cell(raw, above[-1])), None)
        if anchor is None:
            return []
        places = []
        for i in range(anchor + 1, len(self.cells)):
            raw = self.cells[i]
            if raw.grade_id == cell.grade_id:
                continue
            if i not in self.lost or raw.source.strip() in self.known or self.programs[i].functions & self.functions:
                break
            if raw.kind in ("markdown", "raw"):
                places.append(i)
        return places


def is_same_cell(raw: RawCell, cell: Cell) -> bool:
    """Is this the homework's cell, as far as anything tells?"""
    by_mark = bool(cell.grade_id) and raw.grade_id == cell.grade_id
    by_id = bool(cell.cell_id) and raw.cell_id == cell.cell_id
    return by_mark or by_id or raw.source.strip() == cell.visible.strip()


def known_sources(homework: Assignment) -> set[str]:
    """What stands in the cells that are not the student's to write, as it is handed out."""
    return {cell.visible.strip() for cell in homework.cells if cell.role in ("given", "task")} | {""}


def joined(cells: Iterable[RawCell]) -> RawCell:
    """Several cells as one."""
    first, *others = cells
    if not others:
        return first
    parts = [first, *others]
    source = "\n\n".join(part.source for part in parts)
    pictures = tuple(picture for part in parts for picture in part.pictures)
    return RawCell(first.kind, first.grade_id, first.cell_id, source, pictures)


def likeliest_homeworks(cells: Sequence[RawCell], homeworks: Iterable[Assignment]) -> list[str]:
    """The homework to which most of the cells belong, or several if they share them; none if no cell belongs to any."""
    shares = {one.name: len(match_answers(cells, one).cells) for one in homeworks}
    most = max(shares.values(), default=0)
    return [name for name, share in shares.items() if share == most > 0]
