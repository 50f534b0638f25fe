"""Has bailiff run a command, as an agent of your own would: python3 ask.py [--listen ADDRESS] [--seconds N] [--env NAME] COMMAND

Exits as the command does, or with 126 (denied), 75 (not approved yet), 124, 130 or 125 (it failed, or nobody knows).
"""

import argparse
import os
import sys

import bailiff


def main():
    words = argparse.ArgumentParser()
    words.add_argument("--listen", default="unix:///run/bailiff/agent.sock")
    words.add_argument("--seconds", type=float, help="give up after this long")
    words.add_argument("--env", action="append", default=[], help="a variable that it wants, by name")
    words.add_argument("command")
    wish = words.parse_args()

    user = str(os.getuid())
    session = {"id": "example:" + user, "platform": "cli", "user_id": user}  # who asks: never from what a model says
    try:
        client = bailiff.Client(wish.listen)
        answer = client.execute("terminal", {"command": wish.command}, session, env=wish.env, deadline=wish.seconds, on_event=tell)
    except (bailiff.BailiffError, ValueError) as fault:
        print(fault, file=sys.stderr)
        return 125
    for line in [answer.message] * bool(answer.message) + answer.withheld:
        print(line, file=sys.stderr)
    return answer.exit_code


def tell(name, data):
    if name == "output":
        sys.stdout.buffer.write(data["bytes"])
        sys.stdout.flush()
    if name == "approval" and data["state"] == "pending":
        print(data.get("message", "A person must approve this."), file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
