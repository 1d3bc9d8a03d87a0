"""Words as numbers, and a small grammar that writes film reviews."""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass, field

from dpcourse import checks
from dpcourse.data.tables import uniforms

PADDING, UNKNOWN = 0, 1

_GOOD = """
admirable adorable affecting amazing ambitious amusing appealing artful assured astonishing authentic balanced
beautiful beguiling believable bewitching bold breathtaking bright brilliant buoyant captivating careful charismatic
charming cheerful clever colourful compassionate compelling confident convincing courageous crisp dazzling deft
delicate delicious delightful dignified dynamic earnest easygoing effective elegant eloquent enchanting endearing
engaging engrossing enjoyable entertaining enthralling epic evocative excellent exciting exhilarating expert
exquisite faithful fascinating fearless fetching fine flawless fluent focused fresh fruitful funny generous genial
gentle genuine gifted glorious glowing graceful gracious grand gripping handsome haunting heartfelt honest hopeful
humane humorous hypnotic imaginative immersive impeccable impressive incisive infectious ingenious insightful
inspired inspiring intelligent intense intimate intriguing inventive jaunty joyful joyous juicy keen kind lavish
lean likeable lively lovely loving lucid luminous luscious lush lyrical magical magnificent majestic masterful
masterly mature meaningful measured melodious memorable merry mesmerising mighty moving nimble noble nuanced
observant optimistic original outstanding passionate perceptive perfect persuasive playful pleasing poetic poignant
polished potent powerful precise pretty priceless profound pure quick radiant rapturous refined refreshing
remarkable resonant resourceful revelatory rewarding rich riveting robust romantic rousing satisfying savvy seamless
searching sensitive sharp shining silky sincere skilful smart smooth soaring soulful sparkling spectacular spirited
splendid spontaneous stirring striking strong stunning sturdy stylish sublime subtle suspenseful sweet sympathetic
tender terrific thorough thoughtful thrilling timeless touching transcendent triumphant truthful unforgettable
unique uplifting vibrant vigorous virtuosic vital vivid warm watchable weighty wise witty wonderful worthy zesty
"""
_BAD = """
abrasive absurd abysmal aimless amateurish annoying appalling arbitrary arrogant artificial awful awkward bad banal
baffling barren belaboured bitter bizarre bland bleak bloated bloodless blunt boring botched brainless brash brittle
broken bungled careless cheap cheesy childish chilly choppy clichéd clownish clueless clumsy coarse cold colourless
confused confusing contrived convoluted corny cowardly cramped crass creaky crude cruel cynical dated deadening
deafening depressing deranged derivative desperate dire disappointing disastrous disjointed dismal distracting
dopey dreadful dreary drowsy dry dubious dull dumb embarrassing empty endless exasperating excruciating exhausting
fake false faltering farcical feeble flabby flaccid flat flawed flimsy foolish forced forgettable formless frantic
frustrating fumbling fussy garbled garish ghastly gimmicky glib gloomy glum graceless grating grim grotesque
gruesome hackneyed half-baked haphazard harsh hasty heartless heavy-handed hideous hollow hopeless horrible horrid
humdrum humourless hysterical idiotic illogical imitative immature implausible inane inaudible incoherent
incompetent inconsistent inept inert inferior insincere insipid insulting intrusive irksome irritating jarring
joyless jumbled juvenile laboured lacklustre lame laughable lazy leaden lifeless limp listless long-winded loud
lousy ludicrous lukewarm lumbering maddening mangled manipulative mawkish meagre mean meandering mechanical mediocre
messy mindless mirthless misguided misjudged monotonous moronic muddled murky naive narrow needless nonsensical
numbing obnoxious obvious odious offensive overblown overcooked overlong overwrought painful paltry patchy pathetic
pedestrian perfunctory petty phoney plodding pointless pompous poor predictable preposterous pretentious puerile
rambling rancid ridiculous rotten routine rushed sappy senseless shabby shallow shapeless shoddy shrill silly
simplistic sketchy skimpy slack slapdash sleepy sloppy slow sluggish smug soggy soulless spineless stale static
stiff stilted stodgy strained stupid superficial tacky tasteless tedious tepid terrible threadbare tiresome toothless
trashy trite trivial turgid ugly unbearable uneven unfunny uninspired unwatchable useless vacuous vague vapid vile
vulgar wasteful weak wearisome witless wooden worthless wretched
"""
_PARTS = """
story plot cast script ending music camera dialogue opening hero villain pace humour drama sound light costume
setting editing acting score finale twist romance chase voice mood
"""
_FRAMES = (
    "the {part} is {word}",
    "what a {word} {part}",
    "i found the {part} rather {word}",
    "a {word} {part} if you ask me",
    "{word} {part}",
    "the {part} felt {word} to us",
)


@dataclass(frozen=True)
class Vocabulary:
    """Numbers for words: 0 is padding, 1 a word that is not listed.

    Either a public list of ``words``, or, without one, ``size`` numbers into which words are hashed. Both are fixed
    before any private text is read.
    """

    words: tuple[str, ...] = ()
    size: int = 0
    _number: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if len(set(self.words)) < len(self.words):
            raise ValueError(f"words must be different, got {len(self.words) - len(set(self.words))} of them twice")
        object.__setattr__(self, "_number", {word: i + 2 for i, word in enumerate(self.words)})
        if self.words:
            object.__setattr__(self, "size", len(self.words) + 2)
        checks.whole_number("size", self.size, at_least=3)

    @classmethod
    def hashed(cls, size: int = 4096) -> Vocabulary:
        """No list: each word goes to one of ``size`` - 2 numbers by its CRC-32. Some words share a number."""
        return cls(size=checks.whole_number("size", size, at_least=3))

    def __len__(self) -> int:
        return self.size

    def number(self, word: str) -> int:
        """The id of one word."""
        if self.words:
            return self._number.get(word, UNKNOWN)
        return 2 + zlib.crc32(word.encode()) % (self.size - 2)

    def ids(self, text: str, length: int) -> list[int]:
        """The ids of the first ``length`` words of a text in lower case, padded with 0."""
        if not isinstance(text, str):
            raise TypeError(f"text must be a str, got {text!r}")
        numbers = [self.number(word) for word in re.findall(r"\w[\w'-]*", text.lower())[:length]]
        return numbers + [PADDING] * (length - len(numbers))

    def text(self, ids: list[int]) -> str:
        """The words of these ids, where there is a list; "?" for a word that is not on it."""
        if not self.words:
            raise ValueError(f"hashed words cannot be read back, got the ids {ids!r}")
        return " ".join(self.words[i - 2] if i >= 2 else "?" for i in ids if i != PADDING)


def reviews(n: int, seed: int) -> tuple[list[str], list[int], Vocabulary]:
    """``n`` reviews, their labels (1 good, 0 bad, one in twenty flipped), and the grammar's whole vocabulary."""
    good, bad, parts = _GOOD.split(), _BAD.split(), _PARTS.split()
    luck = uniforms(seed, n, 23)
    texts, labels = [], []
    for row in luck:
        label = int(row[0] < 0.5)
        clauses = []
        for i in range(2 + int(row[1] * 4)):
            against, word, part, form = row[3 + 4 * i : 7 + 4 * i]
            opinion = good if (label == 1) != (against < 1 / 6) else bad
            frame = _FRAMES[int(form * len(_FRAMES))]
            clauses.append(frame.format(part=parts[int(part * len(parts))], word=opinion[int(word * len(opinion))]))
        texts.append(" , ".join(clauses))
        labels.append(1 - label if row[2] < 0.05 else label)
    filling = {word for frame in _FRAMES for word in frame.format(part="", word="").split()}
    return texts, labels, Vocabulary(tuple(sorted({*good, *bad, *parts, *filling})))
