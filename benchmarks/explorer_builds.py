"""What every explorer costs to build, and whether a change of its code changed what the browser receives.

``python -m benchmarks.explorer_builds`` lists the slowest five builds. ``... --write FILE`` stores digests of what each
explorer packs: all pictures together, then one by one that at the start and those at three other positions.
``... --compare FILE`` says which explorers pack something else than they did when the file was written.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import time
from pathlib import Path

from dpcourse import explore
from dpcourse.scenes import Packed, Scene

SLOWEST, MORE_POSITIONS, REPEATS = 5, 3, 3


def fresh_scene(name: str) -> Scene:
    """The explorer's scene, without the pictures that it may have packed before."""
    scene = explore.CATALOGUE[name]().scene
    return Scene(scene.title, scene.question, scene.controls, scene.draw)


def build_milliseconds(name: str) -> float:
    """Drawing and packing the pictures of all positions: processor time, the best of three."""
    times = []
    for _ in range(REPEATS):
        scene, start = fresh_scene(name), time.process_time()
        scene.packed  # noqa: B018  (a cached property: asking for it computes it)
        times.append(time.process_time() - start)
    return 1000 * min(times)


def digest(packed: Packed) -> str:
    """A short name of every byte that the browser receives."""
    return hashlib.sha256(json.dumps(packed.spec).encode() + packed.buffer).hexdigest()[:16]


def digests(name: str) -> list[str]:
    """Of all pictures together, of the one at the start, and of three at positions that the explorer's name chooses."""
    scene, chance = fresh_scene(name), random.Random(name)
    positions = [tuple(chance.randrange(n) for n in scene.shape) for _ in range(MORE_POSITIONS)]
    values = [scene.start, *map(scene.values_at, positions)]
    return [digest(scene.packed), *(digest(scene.packed_at(**one)) for one in values)]


def main() -> None:
    """List, write or compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, metavar="FILE")
    parser.add_argument("--compare", type=Path, metavar="FILE")
    options = parser.parse_args()
    if options.write or options.compare:
        now = {name: digests(name) for name in sorted(explore.CATALOGUE)}
        if options.write:
            options.write.write_text(json.dumps(now, indent=1), encoding="utf-8")
        if options.compare:
            before = json.loads(options.compare.read_text(encoding="utf-8"))
            changed = sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name))
            same = sum(len(now[name]) for name in now if name not in changed)
            print(f"{len(now) - len(changed)} of {len(now)} explorers pack the same ({same} digests)", *changed)
        return
    took = {name: build_milliseconds(name) for name in explore.CATALOGUE}
    for name in sorted(took, key=lambda one: -took[one])[:SLOWEST]:
        print(f"{name:20} {took[name]:6.0f} ms")
    print(f"{'all together':20} {sum(took.values()):6.0f} ms; laplace_scale {took['laplace_scale']:.0f} ms")


if __name__ == "__main__":
    main()
