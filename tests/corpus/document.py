"""One document of the corpus before its judges: a record for each operation."""

import hashlib
import json
import warnings
from collections import Counter

from core import Core
from corpus import CORPUS, Server, credentials, served
from generate import Generator
from judges import Prism, Recorder
from jsonschema_rs import ValidationError, validator_for

warnings.simplefilter("ignore")
CANDIDATES = 8
MANY = 200


class Bench:
    """The generators, the recording server and the judges of one process."""

    def __init__(self, hypothesis):
        self.often = hypothesis
        self.generator, self.prism, self.recorder = Generator(bool(hypothesis)), Prism(), Recorder()

    def document(self, row, most, part, known, keep):
        """Judges the operations of one document that are not `known`; `keep` takes each record. At most `most` operations
        (0: all); of them those of one `part` of several."""
        file = row["file"]
        # One request an operation where there are hundreds alike.
        self.variants = 2 if int(row["operations"] or 0) <= MANY else 1
        with served(row) as path:
            server = Server(path, self.recorder.url, credentials(path))
            try:
                tools = sample(server.tools(), most) if server.usable else []
                todo = [tool for tool in tools[part[0] :: part[1]] if tool["name"] not in known]
                if not todo:
                    return
                port, how = self.prism.open(CORPUS / file, int(row["total_bytes"] or 0))
                self.recorder.to(port, self.prism.process)
                core = Core(CORPUS / file, self.recorder.url)
                for tool in todo:
                    record = {"name": tool["name"], "prism": how, "core": core.document is not None}
                    self.operation(record, file, server, tool, core)
                    keep(record)
                    if record.get("gone"):
                        return
            finally:
                server.close()

    def operation(self, record, file, server, tool, core):
        """Calls one tool with up to `variants` values; writes into `record` what came of it."""
        name = tool["name"]
        seed = int.from_bytes(hashlib.sha256(f"{file} {name}".encode()).digest()[:4], "big") >> 1
        record |= {"sent": 0, "refusal": "", "requests": [], "answers": [], "made": {}}
        outputs = None
        if "outputSchema" in tool:
            try:
                outputs = validator_for(tool["outputSchema"])
            except (ValueError, ValidationError) as error:
                record["schema"] = str(error)[:300]
        record["publishes"] = "outputSchema" in tool
        made = outputs and record["prism"] != "whole" and self.generator.one(tool["outputSchema"], seed)
        self.recorder.answer_with(made.encode() if made else None)
        before = Counter(self.generator.made)
        hypothesis = bool(self.often) and self.variants > 1 and seed % self.often == 0
        first = 0 if self.variants > 1 else seed % 4
        for values in self.generator.values(tool["inputSchema"], seed, CANDIDATES, hypothesis, first):
            self.recorder.clear()
            answer = server.ask("tools/call", {"name": name, "arguments": values})
            if answer is None:
                record["gone"] = json.dumps(values)[:300]
                return
            result = answer.get("result")
            if result is None:
                record["refusal"] = str(answer.get("error", {}).get("message"))[:300]
                continue
            text = " ".join(block.get("text", "") for block in result.get("content", []))
            if not self.recorder.requests:
                record["refusal"] = text[:300]
                continue
            record["sent"] += 1
            # What follows a redirect is not the operation's.
            request = self.recorder.requests[0]
            verdicts = {"prism": self.prism.verdict(request), "openapi-core": core.verdict(request)}
            shown = f"{request.method} {request.target[:300]} {request.headers.get('content-type', '')} {request.body[:200]!r}"
            record["requests"].append({"request": shown, "values": json.dumps(values)[:300], "verdicts": verdicts})
            kept = answered(request, result, text, outputs)
            if kept and len(self.recorder.requests) == 1:
                record["answers"].append(kept)
            if record["sent"] >= self.variants:
                break
        record["made"] = dict(self.generator.made - before)


def sample(tools, most):
    """All tools, or those that come first in an order that differs from the document's but not between runs."""
    if most and len(tools) > most:
        tools = sorted(tools, key=lambda tool: hashlib.sha256(tool["name"].encode()).digest())[:most]
    return tools


def answered(request, result, text, outputs):
    """What became of a successful answer: `[how, what is wrong]`, or None where there was none."""
    if request.status is None or not 200 <= request.status < 300:
        return None
    how = "made" if request.made else "mocked"
    if result.get("isError"):
        return [how, f"the answer {request.status} is an error: {text[:200]}"]
    if outputs is None:
        return [how, None]
    how = f"structured {how}"
    if "structuredContent" not in result:
        return [how, None if request.status in (204, 205) else f"no structuredContent with {request.status}: {text[:200]}"]
    error = next(outputs.iter_errors(result["structuredContent"]), None)
    return [how, None if error is None else f"structuredContent: {error}"[:400]]
