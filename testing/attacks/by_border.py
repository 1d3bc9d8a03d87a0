"""Attacks on the border: answers that are large, odd or endless, and frames that are none."""

from __future__ import annotations

from testing.attacks.attack import Attack

RAW = """
from autograder.box.inside import child
import struct, socket
def send(data):
    child.channel._socket.settimeout(5)
    try:
        child.channel._socket.sendall(data)
    except OSError:
        pass
def frame(text, numbers=b""):
    return struct.pack(">II", len(text), len(text) + len(numbers)) + text + numbers
"""

#: name -> what `double(x)` gives back
ANSWERS = {
    "half_a_million_small_arrays": "[np.array(1.0)] * 480_000",
    "lists_in_lists": "[[[1.0]] * 300] * 300",
    "a_table_of_keys": "{str(number): number for number in range(200_000)}",
    "a_long_word": "'x' * 7_000_000",
    "a_long_word_of_accents": "'\\u0301' * 3_000_000",
    "a_number_of_many_digits": "10 ** 200_000",
    "a_negative_number_of_many_digits": "-(7 ** 100_000)",
    "an_empty_array_of_many_axes": "np.zeros((1,) * 30)",
    "an_array_of_nothing": "np.zeros((0, 10**9))",
    "a_structured_array": "np.zeros(3, dtype=[('a', 'f8'), ('b', 'O')])",
    "an_array_of_words": "np.array(['x' * 10_000] * 1_000)",
    "an_array_of_dates": "np.array(['2026-01-01'], dtype='datetime64[D]')",
    "a_masked_array": "np.ma.masked_all(3)",
    "an_endless_generator": "iter(int, 1)",
    "an_endless_list": "Endless()",
    "a_list_that_holds_itself": "circle",
    "a_dict_that_holds_itself": "{'x': circle}",
    "a_class": "int",
    "a_module": "np",
    "a_lambda": "(lambda: 0)",
    "true": "True",
    "bytes": "b'\\x00' * 10**6",
    "a_memoryview": "memoryview(b'1234')",
    "tiny": "5e-324",
    "huge": "1.7e308",
    "half_a_character": "'\\ud800'",
}
MORE = """
class Endless(list):
    def __len__(self): return 10**9
    def __iter__(self):
        while True: yield 1.0
circle = []
circle.append(circle)
"""

FRAMES = {
    "claims_four_gigabytes": "struct.pack('>II', 2**32 - 1, 2**32 - 1)",
    "claims_more_text_than_all": "struct.pack('>II', 2**20, 10)",
    "is_all_brackets": "frame(b'[' * 4_000_000)",
    "is_nested_objects": "frame(b'{\"l\":[' * 100_000 + b']}' * 100_000)",
    "is_many_small_lists": "frame(b'{\"l\":[' + b','.join([b'{\"l\":[]}'] * 700_000) + b']}')",
    "is_many_small_arrays": "frame(b'{\"l\":[' + b','.join([b'{\"a\":[\"<f8\",[0]]}'] * 380_000) + b']}')",
    "has_a_number_of_a_million_digits": "frame(b'1' * 1_000_000)",
    "has_infinities": 'frame(b\'{"d":[["number",2],["answers",{"l":[Infinity,-Infinity,NaN]}]]}\')',
    "has_a_negative_length": 'frame(b\'{"a":["<f8",[-1]]}\')',
    "has_lengths_that_overflow": 'frame(b\'{"a":["<f8",[4294967296,4294967296]]}\')',
    "has_an_object_array": "frame(b'{\"a\":[\"|O\",[1]]}', b'x' * 8)",
    "has_a_pickle": "frame(b'{\"p\":\"cos\\\\nsystem\"}', b'\\x80\\x04.')",
    "has_numbers_left": "frame(b'1', b'x' * 1_000_000)",
    "is_no_unicode": "frame(b'\"\\xff\\xfe\"')",
    "is_cut_off": "frame(b'1' * 100)[:50]",
    "repeats_a_key": 'frame(b\'{"d":[["number",1],["number",2],["number",3]]}\')',
}

ATTACKS: list[Attack] = [
    *[
        Attack(f"answers_{name}", f"{MORE}\ndef double(x): return {answer}\nclip = add_up = spread = cumulate = "
               f"lambda *given: double(1.0)")
        for name, answer in ANSWERS.items()
    ],
    *[
        Attack(f"frame_{name}", f"{RAW}\ndef double(x):\n    send({frame})\n    return 1.0")
        for name, frame in FRAMES.items()
    ],
    Attack("frame_a_byte_a_second", RAW + """
import time
def double(x):
    for one in frame(b"1" * 100):
        send(bytes([one]))
        time.sleep(1)
"""),
    Attack("asks_services_without_end", """
from dpcourse import accounting
def double(x):
    while True:
        try:
            accounting.dp_sgd_epsilon(1.0, 0.01, 10, 1e-5)
        except ValueError:
            pass
"""),
    Attack("asks_services_by_odd_names", RAW + """
def double(x):
    for name in ("data.__class__", "accounting.__builtins__", "x" * 10**6, "data/../../x", "", "data."):
        child.channel.send({"number": -1, "service": name, "arguments": [], "named": {}})
        child.channel.receive()
    return 1.0
"""),
    Attack("claims_error_types", RAW + """
def double(x):
    child.channel.send({"number": 3, "status": "passed", "text": "x" * 10**6, "errors": ["ValueError"] * 10**5})
"""),
    Attack("claims_other_codes", RAW + """
def double(x):
    for status in ("passed", "", None, 7, ["error"], {"a": 1}, "__class__"):
        child.channel.send({"number": 3, "status": status, "text": status, "errors": status})
"""),
]  # fmt: skip
