"""Asks what each line of standard input says by the Python client, and writes what came of it, in one word and more."""

import json
import sys

sys.path.insert(0, sys.argv[1])
import bailiff  # noqa: E402


def executed(client, line):
    names, output = [], b""

    def told(name, data):
        nonlocal output
        if name == "output":
            output += data["bytes"]
        else:
            names.append(name)

    answer = client.execute(**line["request"], wait_seconds=0, request_id=line["id"], deadline=line["seconds"], on_event=told)
    assert output == answer.output_bytes, (output, answer.output)
    if line["whole"]:
        return json.dumps({"status": answer.status, "process": answer.process_id, "output": answer.output,
                           "truncated": answer.truncated, "withheld": answer.withheld})
    return " ".join([answer.status, answer.code, str(answer.exit_code), answer.output_bytes.hex()] + names)


CALLS = {
    "execute": executed,
    "decide": lambda client, line: client.decide(**line["request"]).outcome,
    "end_session": lambda client, line: str(client.end_session("s1")["processes"]),
    "register_tools": lambda client, line: client.register_tools("s1", ["web_search"]) or "",
    "answer_tool": lambda client, line: client.answer_tool("c1", result=[1]) or "",
}


def come_of(line):
    client = bailiff.Client(line["address"], token=line["token"] or None, timeout=line["patience"] or line["seconds"])
    try:
        return {"class": "Answer", "told": CALLS[line["call"]](client, line)}
    except bailiff.BailiffError as fault:
        at = sorted(e["at"] for e in getattr(fault, "errors", []))
        return {"class": type(fault).__name__, "told": " ".join([getattr(fault, "code", "")] + at), "said": str(fault)}


for text in sys.stdin:
    print(json.dumps(come_of(json.loads(text))), flush=True)
