"""Arguments for published schemas, from generators that know nothing of this project."""

import json
import os
import signal
import subprocess
import warnings
from collections import Counter
from contextlib import contextmanager

from corpus import HERE
from jsonschema_rs import validator_for


class Late(Exception):
    """A generator took too long."""


@contextmanager
def within(seconds):
    def late(*_):
        raise Late

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class Generator:
    def __init__(self):
        self.process = None
        self.made = Counter()

    def start(self):
        self.process = subprocess.Popen(["node", str(HERE / "generate.mjs")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=dict(os.environ))

    def values(self, schema, seed, count, hypothesis):
        """At most `count` different valid values, least first."""
        if not schema.get("properties"):
            self.made["nothing to fill in"] += 1
            yield {}
            return
        check = validator_for(schema, validate_formats=True)
        seen = set()
        if hypothesis:
            for value in self.hypothesis(schema, seed):
                if check.is_valid(value):
                    self.made["hypothesis-jsonschema"] += 1
                    yield value
        for value in self.faker(schema, seed, count):
            value = tame(value)
            key = json.dumps(value, sort_keys=True)
            if key not in seen and check.is_valid(value):
                seen.add(key)
                self.made["json-schema-faker"] += 1
                yield value
        if not seen and not hypothesis:
            for value in self.hypothesis(schema, seed):
                if check.is_valid(value):
                    self.made["hypothesis-jsonschema"] += 1
                    yield value

    def faker(self, schema, seed, count):
        if self.process is None or self.process.poll() is not None:
            self.start()
        try:
            with within(20):
                self.process.stdin.write(json.dumps({"schema": schema, "seed": seed, "count": count}).encode() + b"\n")
                self.process.stdin.flush()
                return json.loads(self.process.stdout.readline() or b"{}").get("values", [])
        except (Late, BrokenPipeError):
            self.process.kill()
            self.process.wait()
            self.process = None
            return []

    @staticmethod
    def hypothesis(schema, seed):
        import hypothesis
        from hypothesis_jsonschema import from_schema

        found = []
        try:
            with within(6), warnings.catch_warnings():
                warnings.simplefilter("ignore")

                @hypothesis.seed(seed)
                @hypothesis.settings(max_examples=4, database=None, deadline=None, suppress_health_check=list(hypothesis.HealthCheck), phases=[hypothesis.Phase.generate])
                @hypothesis.given(from_schema(schema))
                def collect(value):
                    found.append(value)

                collect()
        except BaseException as error:  # noqa: BLE001 - whatever the generator does not understand
            if isinstance(error, (KeyboardInterrupt, SystemExit)):
                raise
        return found[-3:]


def tame(value):
    """Whole numbers as such: JavaScript writes 1e21 for large ones."""
    if isinstance(value, dict):
        return {key: tame(item) for key, item in value.items()}
    if isinstance(value, list):
        return [tame(item) for item in value]
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    return value
