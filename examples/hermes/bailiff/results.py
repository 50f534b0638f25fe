"""Answers in the shapes that Hermes' own tools have."""


def blocked(tool, why):
    """Nothing ran, or nobody knows. Hermes and its models know this shape from Hermes' own guards."""
    return _of(tool, {"output": "", "exit_code": -1, "error": "BLOCKED: " + why, "status": "blocked"})


def unfit(tool, why):
    """The call was no call of this tool; nothing ran."""
    return _of(tool, {"output": "", "exit_code": -1, "error": why, "status": "error"})


def interrupted(tool, output=""):
    """The user sent something new while the tool ran."""
    return _of(tool, {"output": _noted(output, "[Command interrupted]"), "exit_code": 130, "error": None, "status": "interrupted"})


def ended(tool, answer, shape):
    """The result of an answer; shape makes that of a call that ran to its end."""
    if answer.status == "completed":
        return _with_refused(_of(tool, _with_withheld(_with_approval(shape(answer), answer), answer)), answer)
    return _with_refused(_OTHERWISE[answer.status](tool, answer), answer)


def _denied(tool, answer):
    return blocked(tool, answer.message or "the policies deny it")


def _waiting(tool, answer):
    who = (answer.approval or {}).get("message") or answer.message
    return _of(tool, {"output": "", "exit_code": -1, "status": "pending_approval", "approval_pending": True, "description": who,
                      "error": "Nothing ran, and nobody has answered yet. %s Make the same call again once it is approved." % who})


def _timed_out(tool, answer):
    return _of(tool, {"output": _noted(answer.output, "[Command timed out] " + answer.message), "exit_code": 124, "error": None,
                      "status": "timeout"})


def _stopped(tool, answer):
    return interrupted(tool, answer.output)


def _failed(tool, answer):
    return _of(tool, {"output": answer.output, "exit_code": -1, "error": answer.message, "status": "error"})


_OTHERWISE = {"denied": _denied, "expired": _denied, "unavailable": _denied, "approval_required": _waiting, "timeout": _timed_out,
              "interrupted": _stopped, "error": _failed}


def _with_approval(result, answer):
    approval = answer.approval or {}
    if approval.get("state") == "approved":
        result["approval"] = "Approved by %s (%s)." % (approval.get("by"), approval.get("scope"))
    return result


def _with_withheld(result, answer):
    """Names the variables that did not enter; of one that is for other programs a model hears where the command failed."""
    withheld = ((answer.decision or {}).get("env") or {}).get("withheld") or []
    told = ["%s (%s)" % (held["name"], held["rule"]) for held in withheld if held["rule"] != "env.program" or answer.exit_code != 0]
    if told:
        result["withheld"] = "Withheld: %s. A variable enters for its own programs only: send the one command alone." % ", ".join(told)
    return result


def _with_refused(result, answer):
    """Tells which connections out of the sandbox were refused, why, and what may be reached."""
    egress = answer.egress or {}
    if egress.get("blocked"):
        result["egress"] = egress
        result.setdefault("note", answer.message)
    return result


def _of(tool, result):
    """Adds what Hermes' execute_code always says."""
    if tool == "execute_code":
        result.setdefault("tool_calls_made", 0)
        result.setdefault("duration_seconds", 0)
    return result


def _noted(output, note):
    return output + ("" if not output or output.endswith("\n") else "\n") + note
