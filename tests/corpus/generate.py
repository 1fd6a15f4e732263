"""Arguments for published schemas, from generators that know nothing of this project."""

import json
import os
import signal
import subprocess
import warnings
from collections import Counter
from contextlib import contextmanager

from corpus import HERE, Late, wait
from jsonschema_rs import validator_for


@contextmanager
def within(seconds):
    """Raises `Late` after so much processor time of this process: what else the machine does decides nothing."""

    def late(*_):
        raise Late

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


class Generator:
    def __init__(self, second):
        """`second`: hypothesis-jsonschema helps where the faker makes nothing."""
        self.second = second
        self.process = None
        self.made = Counter()

    def start(self):
        self.process = subprocess.Popen(["node", str(HERE / "generate.mjs")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=dict(os.environ))

    def values(self, schema, seed, count, hypothesis, first=0):
        """At most `count` different valid values, beginning with the `first` of the faker's four modes, from the least to the most."""
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
        # What the faker can't fill in, or fills in as nobody can send it, it gets once more with hints.
        for asked, most in ((schema, count), (hinted(schema), 4)):
            for start in range(seed, seed + most, 4):
                for value in self.faker(asked, start, 4, first):
                    value = tame(value)
                    key = json.dumps(value, sort_keys=True)
                    if key not in seen and check.is_valid(value):
                        seen.add(key)
                        self.made["json-schema-faker"] += 1
                        yield value
        if not seen and self.second and not hypothesis:
            for value in self.hypothesis(schema, seed):
                if check.is_valid(value):
                    self.made["hypothesis-jsonschema"] += 1
                    yield value

    def one(self, schema, seed):
        """One value as JSON text, or None."""
        return next((json.dumps(tame(value)) for value in self.faker(schema, seed, 1, 2)), None)

    def faker(self, schema, seed, count, first):
        if self.process is None or self.process.poll() is not None:
            self.start()
        try:
            self.process.stdin.write(json.dumps({"schema": schema, "seed": seed, "count": count, "first": first}).encode() + b"\n")
            self.process.stdin.flush()
            wait(self.process, self.process.stdout, 3 if count > 1 else 1)
            return json.loads(self.process.stdout.readline() or b"{}").get("values", [])
        except (Late, BrokenPipeError):
            self.process.kill()
            self.process.wait()
            self.process = None
        # One mode that does not end takes the others with it.
        return [value for index in range(count) for value in self.faker(schema, seed + index, 1, first + index)] if count > 1 else []

    @staticmethod
    def hypothesis(schema, seed):
        import hypothesis
        from hypothesis_jsonschema import from_schema

        found = []
        try:
            with within(1.5), warnings.catch_warnings():
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


def hinted(schema):
    """The schema with what it leaves open and a request needs: objects where members are required, texts that are not
    empty (a path has no empty segment), base64 where it is described. What comes of it is held against the schema itself."""
    if isinstance(schema, list):
        return [hinted(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    out = {}
    for key, value in schema.items():
        if key in ("properties", "patternProperties", "$defs") and isinstance(value, dict):
            out[key] = {name: hinted(item) for name, item in value.items()}
        else:
            out[key] = hinted(value) if isinstance(value, (dict, list)) and key not in ("enum", "const", "default", "examples", "required", "type") else value
    free = not {"type", "enum", "const", "$ref", "allOf", "anyOf", "oneOf", "not", "if"} & set(out)
    if free and {"required", "properties"} & set(out):
        out["type"] = "object"
        out["properties"] = {**{name: {"type": "string", "minLength": 1} for name in out.get("required", [])}, **out.get("properties", {})}
    elif free and set(out) <= {"examples", "title", "description", "format", "maxLength", "readOnly"}:
        out["type"] = "string"
    if out.get("type") == "string" and not {"enum", "const", "pattern", "format", "minLength"} & set(out) and out.get("maxLength", 1) > 0:
        out["minLength"] = 1
        if str(out.get("description", "")).startswith("Base64"):
            out["format"] = "byte"
    return out


def tame(value):
    """Whole numbers as such: JavaScript writes 1e21 for large ones."""
    if isinstance(value, dict):
        return {key: tame(item) for key, item in value.items()}
    if isinstance(value, list):
        return [tame(item) for item in value]
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    return value
