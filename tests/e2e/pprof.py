# SPDX-License-Identifier: BSD-2-Clause
"""A small reader and writer for profile.proto, independent of wick's own."""
import gzip


def _varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        shift += 7
        if not byte & 0x80:
            return value, at


def fields(data):
    """(field number, value) of a message: numbers, or bytes."""
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        if tag & 7 == 0:
            value, at = _varint(data, at)
        elif tag & 7 == 1:
            value, at = int.from_bytes(data[at:at + 8], "little"), at + 8
        elif tag & 7 == 2:
            size, at = _varint(data, at)
            value, at = data[at:at + size], at + size
            assert len(value) == size
        else:
            raise AssertionError(f"wire type {tag & 7}")
        yield tag >> 3, value


def message(data):
    """{field: [values]}"""
    result = {}
    for field, value in fields(data):
        result.setdefault(field, []).append(value)
    return result


def packed(values):
    numbers = []
    for value in values:
        if isinstance(value, int):
            numbers.append(value)
            continue
        at = 0
        while at < len(value):
            number, at = _varint(value, at)
            numbers.append(number)
    return [n - (1 << 64) if n >> 63 else n for n in numbers]


def varint(number):
    out = bytearray()
    number &= (1 << 64) - 1
    while number >= 0x80:
        out.append(number & 0x7f | 0x80)
        number >>= 7
    return bytes(out) + bytes([number])


def field(number, value):
    """One field: a number, or bytes."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


class Writer:
    """The smallest profile: of samples that count, or of other types (name, unit)."""

    def __init__(self, types=(("samples", "count"),), default=None):
        self.strings = [""]
        self.names = []
        self.body = b"".join(field(1, field(1, self.text(name)) + field(2, self.text(unit)))
                             for name, unit in types)
        if default:
            self.body += field(14, self.text(default))

    def text(self, text):
        if text not in self.strings:
            self.strings.append(text)
        return self.strings.index(text)

    def function(self, number, name):
        self.body += field(5, field(1, number) + field(2, self.text(name)))
        self.body += field(4, field(1, number) + field(4, field(1, number)))

    def stack(self, names, values, labels=None):
        """A sample of functions by their names, from the root to the leaf."""
        for name in names:
            if name not in self.names:
                self.names.append(name)
                self.function(len(self.names), name)
        self.sample([self.names.index(name) + 1 for name in reversed(names)],
                    b"".join(map(varint, values)), labels or {})

    def sample(self, locations, count, labels):
        """Labels are {key: text, number or (number, unit)}."""
        body = field(1, b"".join(map(varint, locations))) + field(2, count)
        for key, value in labels.items():
            label = field(1, self.text(key))
            if isinstance(value, str):
                label += field(2, self.text(value))
            elif isinstance(value, int):
                label += field(3, value)
            else:
                label += field(3, value[0]) + field(4, self.text(value[1]))
            body += field(3, label)
        self.body += field(2, body)

    def data(self):
        return self.body + b"".join(field(6, text.encode()) for text in self.strings)


class Profile:
    """A profile with its references followed."""

    def __init__(self, data):
        top = message(gzip.decompress(data))
        self.strings = [text.decode() for text in top[6]]
        assert self.strings[0] == ""
        self.types = [self._value_type(t) for t in top[1]]
        functions = {m[1][0]: self._text(m, 2) for m in map(message, top.get(5, []))}
        self.files = {self._text(m, 2): self._text(m, 4) for m in map(message, top.get(5, []))}
        self.mappings = {m[1][0]: (self._text(m, 5), self._text(m, 6))
                         for m in map(message, top.get(3, []))}
        self.locations = {}
        for location in map(message, top.get(4, [])):
            mapping = location.get(2, [0])[0]
            assert mapping == 0 or mapping in self.mappings
            lines = [message(line) for line in location.get(4, [])]
            self.locations[location[1][0]] = [functions[line[1][0]] for line in lines]
        self.samples = [self._sample(message(s)) for s in top.get(2, [])]
        self.time_ns = top.get(9, [0])[0]
        self.duration_ns = top.get(10, [0])[0]
        self.period = top.get(12, [0])[0]

    def _text(self, parts, field):
        return self.strings[parts.get(field, [0])[0]]

    def _value_type(self, data):
        parts = message(data)
        return self._text(parts, 1), self._text(parts, 2)

    def _sample(self, parts):
        """(functions from the root to the leaf, values, labels)"""
        stack = [name for location in packed(parts.get(1, []))
                 for name in self.locations[location]]
        labels = {}
        for label in map(message, parts.get(3, [])):
            number = packed(label.get(3, [0]))[0]
            labels[self._text(label, 1)] = (self._text(label, 2) if 2 in label
                                            else (number, self._text(label, 4)) if 4 in label
                                            else number)
        return stack[::-1], packed(parts.get(2, [])), labels
