"""What `language.json` means: the API beside it, what a case wants, and how an answer is compared."""
import contextlib, json, os, sys, urllib.request
from story import free_port, running

HERE = __file__.rsplit("/", 1)[0]
RUNS = json.load(open(f"{HERE}/language.json"))["runs"]


class Requests:
    def __init__(self, port):
        self.url = f"http://127.0.0.1:{port}/log"

    def __call__(self):
        """What was asked since the last time."""
        with urllib.request.urlopen(self.url, timeout=10) as answer:
            return json.load(answer)

    def check(self, case):
        seen = self()
        if "upstream" not in case:
            return []
        order = (lambda all: sorted(all, key=json.dumps)) if case.get("unordered") else list
        return [] if order(seen) == order(case["upstream"]) else [f"sent {seen}"]


@contextlib.contextmanager
def api():
    with running([sys.executable, f"{HERE}/language_api.py", str(port := free_port())], port):
        yield {**os.environ, "INTEROP_BACKEND": f"http://127.0.0.1:{port}"}, Requests(port)


def filled(value, saved):
    """`$name` is what an earlier case saved."""
    if isinstance(value, dict):
        return {key: filled(member, saved) for key, member in value.items()}
    return saved[value[1:]] if isinstance(value, str) and value.startswith("$") else value


def wanted(case, version):
    """`names` and `list` for short. A list travels as `{"result": …}` where a revision knows objects only."""
    if "names" in case:
        return {"names": case["names"]}
    expect = dict(case.get("expect", {}))
    if "list" in case:
        expect["structuredContent"] = case["list"] if version >= "2026" else {"result": case["list"]}
    if "call" in case and "isError" not in expect:
        expect["isError"] = None
    return expect


def differences(expect, got, at="", open=True):
    """`~text`: contains it; null at the top: is not there; `...` in an object: may have other members too."""
    if isinstance(expect, dict) and isinstance(got, dict):
        problems = []
        for key, one in expect.items():
            if key == "...":
                continue
            if open and at == "" and one is None:
                problems += [] if got.get(key) in (None, False) else [f"{key} is there: {got[key]!r}"]
            elif key not in got:
                problems.append(f"{at}.{key} is missing in {got!r}")
            else:
                problems += differences(one, got[key], f"{at}.{key}", False)
        more = [] if open or "..." in expect else [key for key in got if key not in expect]
        return problems + [f"{at}.{key} is too much: {got[key]!r}" for key in more]
    if isinstance(expect, list) and isinstance(got, list) and len(expect) == len(got):
        return [problem for index, one in enumerate(expect) for problem in differences(one, got[index], f"{at}[{index}]", False)]
    if isinstance(expect, str) and expect.startswith("~") and isinstance(got, str):
        return [] if expect[1:] in got else [f"{at}: {expect[1:]!r} is not in {got!r}"]
    same = expect == got and isinstance(expect, bool) == isinstance(got, bool)
    return [] if same else [f"{at}: wanted {expect!r}, got {got!r}"]
