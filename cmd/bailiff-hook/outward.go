package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/agents/hook"
)

// judgeAddresses lets a tool reach what a command in the sandbox may reach, by the same rows. Where the policies let the command
// that does the same run on this machine, they let the tool.
func (p program) judgeAddresses(ctx context.Context, c hook.Call, m hook.Meaning) (hook.Verdict, error) {
	if p.onHost {
		return p.judgeHost(ctx, c, m)
	}
	for _, address := range m.Addresses {
		d, err := p.connection(ctx, p.request(c, m, ""), address)
		switch {
		case err != nil:
			return hook.Verdict{}, err
		case d.Outcome == bailiff.Allow:
			continue
		}
		if v, err := p.judgeHost(ctx, c, m); err == nil {
			return v, nil
		}
		if d.Outcome == bailiff.Ask {
			return hook.Verdict{}, errors.New("a person would have to approve it, and no tool of a client waits for that: " +
				sentences(d.Approval.Reasons) + "; a command of the shell tool that does the same is asked about")
		}
		return hook.Verdict{}, refusal(d)
	}
	if len(m.Addresses) == 0 {
		return hook.Verdict{}, fmt.Errorf("%s names no address", c.Tool)
	}
	return hook.Verdict{Outcome: hook.Allow, Reason: "allowed as to a command in the sandbox"}, nil
}
