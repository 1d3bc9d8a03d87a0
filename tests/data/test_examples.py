"""The data of lecture 4: seeded, offline, and refused at the door where they are not what they should be."""

import math
import re

import pytest
import torch

from dpcourse.data.chat_messages import ALPHABET, IGNORED, WINDOW, Canary, as_examples, decode, encode, messages
from dpcourse.data.examples import Examples, digits, load_csv, sentiments
from dpcourse.data.film_reviews import PADDING, UNKNOWN, Vocabulary, reviews

TEN = Examples(torch.arange(10.0)[:, None], torch.arange(10), torch.arange(10) // 2)


def test_digits_are_images_between_0_and_1():
    train, test = digits()
    assert (len(train), len(test)) == (1438, 359)
    assert train.inputs.shape[1:] == (1, 8, 8)
    assert (train.inputs.min(), train.inputs.max()) == (0, 1)
    assert set(train.targets.tolist()) == set(test.targets.tolist()) == set(range(10))
    again, _ = digits()
    other, _ = digits(seed=1)
    assert torch.equal(train.inputs, again.inputs)
    assert not torch.equal(train.targets, other.targets)


def test_a_split_loses_and_repeats_nothing():
    first, second = TEN.split(0.7, seed=3)
    assert (len(first), len(second)) == (7, 3)
    assert sorted([*first.targets.tolist(), *second.targets.tolist()]) == list(range(10))
    assert first.users is not None
    assert torch.equal(first.users, first.targets // 2)  # rows stay together


def test_neighbours():
    assert TEN.without(4).targets.tolist() == [0, 1, 2, 3, 5, 6, 7, 8, 9]
    assert TEN.of_user(2).targets.tolist() == [4, 5]
    assert TEN.without_user(2).targets.tolist() == [0, 1, 2, 3, 6, 7, 8, 9]


@pytest.mark.parametrize(
    ("wrong", "quoted"),
    [
        (lambda: Examples(torch.zeros(3), torch.zeros(2)), "[3, 2]"),
        (lambda: Examples(torch.zeros(3), torch.zeros(3), torch.zeros(4)), "[3, 3, 4]"),
        (lambda: TEN.split(0.01), "0.01"),
        (lambda: TEN.split(1.5), "1.5"),
        (lambda: TEN.without(10), "10"),
        (lambda: TEN.without(-1), "-1"),
        (lambda: TEN.of_user(7), "7"),
        (lambda: Examples(torch.zeros(3), torch.zeros(3)).of_user(7), "7"),
        (lambda: sentiments(3), "3"),
        (lambda: Vocabulary(("a", "a")), "1 of them twice"),
        (lambda: Vocabulary.hashed(2), "2"),
        (lambda: Canary("the code is", ""), "the code is"),
        (lambda: Canary("the code is ##", "123"), "123"),
        (lambda: Canary("the code is ##", "1a"), "1a"),
        (lambda: encode("Größe"), "Gßö"),
        (lambda: messages(per_user=5, repeats=5), "5"),
        (lambda: messages(users=1, canaries=[Canary.random(1), Canary.random(2)]), "2"),
        (lambda: as_examples([]), "[]"),
    ],
)
def test_bad_input_is_quoted(wrong, quoted):
    with pytest.raises(ValueError, match=re.escape(quoted)):
        wrong()


def test_tensors_are_asked_for():
    with pytest.raises(TypeError, match="inputs must be a tensor"):
        Examples([1, 2], torch.zeros(2))  # type: ignore[arg-type]


def test_reviews_need_several_hundred_words():
    texts, labels, vocabulary = reviews(2000, seed=0)
    assert reviews(2000, seed=0)[0] == texts
    assert len(vocabulary) > 500
    assert UNKNOWN not in {i for text in texts for i in vocabulary.ids(text, 40)}  # the list is complete
    assert max(len(text.replace(",", "").split()) for text in texts) <= 40
    # Half the labels are 1: Binomial(2000, 1/2) leaves 0.5 +- 0.05 with probability 8e-6 (and the seed is fixed).
    assert abs(sum(labels) / 2000 - 0.5) < 0.05
    task = sentiments(1000)
    assert (len(task.train), len(task.test)) == (800, 200)
    assert task.train.inputs.max() < len(task.vocabulary)
    read = task.vocabulary.text(task.train.inputs[0].tolist())
    assert task.vocabulary.ids(read, task.train.inputs.shape[1]) == task.train.inputs[0].tolist()


def test_hashed_words_are_the_same_everywhere():
    hashed = Vocabulary.hashed(1000)
    assert hashed.ids("Tea, tea!", 4) == [hashed.number("tea")] * 2 + [PADDING] * 2
    assert hashed.number("tea") == 2 + 2391201714 % 998  # CRC-32, not Python's salted hash
    with pytest.raises(ValueError, match="cannot be read back"):
        hashed.text([5])


def test_a_csv_of_ones_own(tmp_path):
    imdb = tmp_path / "imdb.csv"
    rows = "".join(f'"a fine film, number {i}",{"pos" if i % 2 else "neg"}\n' for i in range(20))
    imdb.write_text("review,sentiment\n" + rows + ",pos\n", encoding="utf-8")
    task = load_csv(imdb, text="review", label="sentiment", max_words=6)
    assert task.labels == ("neg", "pos")
    assert (len(task.train), len(task.test), task.left_out) == (16, 4, 1)  # the row without a text is left out
    assert task.train.inputs.shape == (16, 6)
    snli = tmp_path / "snli.csv"
    snli.write_text("premise,hypothesis,label\n" + "".join(f"p{i},h{i},{'nce'[i % 3]}\n" for i in range(9)), "utf-8")
    pairs = load_csv(snli, text=("premise", "hypothesis"), max_words=4)
    assert pairs.labels == ("c", "e", "n")
    known = load_csv(snli, text="premise", max_words=1, vocabulary=Vocabulary(("p1", "p2")))
    assert sorted([*known.train.inputs.flatten().tolist(), *known.test.inputs.flatten().tolist()]) == [1] * 7 + [2, 3]


def test_words_that_look_like_nothing_are_kept_and_disputed_labels_left_out(tmp_path):
    path = tmp_path / "own.csv"
    path.write_text("text,label\nnull,a\nNA,b\nNone,a\nyes,-\nno,b\n")
    task = load_csv(path, max_words=2, share=0.5)
    assert len(task.train) + len(task.test) == 4
    assert task.labels == ("a", "b")


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (None, "there is none at"),
        ("", "cannot be read"),
        ("text,label\n" + "hi, there,good\noh, no,bad\nplain,good\n" * 9, "must stand in quotes"),
        ("text,label\n", "at least two rows"),
        ("text,answer\na,b\n", r"no column 'label'; it has \['text', 'answer'\]: name yours with label="),
        ("review,label\na,b\n", "no column 'text'"),
        ("text,label\na,b\nc,b\n", "at least two different labels, got only 'b'"),
        ("text,label\na,b\nc,d\n", r"too few rows .* a share of 0\.8 of them and to test on the rest: 2"),
    ],
)
def test_a_bad_csv_is_explained(tmp_path, content, complaint):
    path = tmp_path / "own.csv"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=complaint) as caught:
        load_csv(path)
    if "labels" not in complaint:
        assert str(path) in str(caught.value)


def test_messages_have_authors_secrets_and_canaries():
    canary = Canary.random(4)
    corpus = messages(users=50, per_user=10, seed=1, canaries=[canary], repeats=3)
    assert len(corpus) == len(messages(users=50, per_user=10, seed=1)) == 500
    assert corpus.of_user(0).count(canary.text) == 3
    assert corpus.texts.count(canary.text) == 3
    assert 0 < len(corpus.secrets) < 25
    for user, secret in corpus.secrets.items():
        assert secret in corpus.of_user(user)
        assert any(digit.isdigit() for digit in secret)
    assert messages(users=50, seed=1).texts == messages(users=50, seed=1).texts
    everyday = [text for text in messages(secrets=0).texts if any(letter.isdigit() for letter in text)]
    assert everyday == []


def test_a_message_is_one_example():
    corpus = messages(users=300)
    assert max(map(len, corpus.texts)) < WINDOW
    examples = corpus.examples()
    assert len(examples) == len(corpus)
    assert examples.inputs.shape == examples.targets.shape == (len(corpus), WINDOW)
    text = corpus.texts[7]
    assert decode(examples.inputs[7, : len(text) + 1]) == "\n" + text
    assert decode(examples.targets[7, : len(text) + 1]) == text + "\n"
    assert set(examples.targets[7, len(text) + 1 :].tolist()) <= {IGNORED}
    assert len(examples.of_user(3)) == 20


def test_a_long_message_is_cut_without_a_gap():
    text = "".join(ALPHABET[1 + i % (len(ALPHABET) - 1)] for i in range(70))
    cut = as_examples([text])
    asked = [i for row in cut.targets.tolist() for i in row if i != IGNORED]
    assert decode(asked) == text + "\n"
    assert len(cut) == 3


def test_a_canary_is_drawn_from_its_whole_space():
    canary = Canary.random(11, "my pin is ####, ok?")
    assert canary.space == 10_000
    assert canary.text == f"my pin is {canary.filling}, ok?"
    assert canary == Canary.random(11, "my pin is ####, ok?")
    # 400 fillings of 6 digits: each digit's share is 0.1 +- 5.5 standard deviations (odds of a false alarm < 1e-6).
    drawn = "".join(Canary.random(seed).filling for seed in range(400))
    assert all(abs(drawn.count(d) - 240) < 5.5 * math.sqrt(2400 * 0.09) for d in "0123456789")
