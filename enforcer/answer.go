package enforcer

import (
	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/enforcer/answers"
)

// answer is an Answer with whether anything was started for it.
type answer struct {
	bailiff.Answer
	started bool
	// sandboxGone says that the sandbox failed before the command was started.
	sandboxGone bool
	// approved says that approvers have just let the request run, which is judged again before it does.
	approved bool
}

// of completes an answer with what it answers.
func (a answer) of(req bailiff.Request) bailiff.Answer {
	a.RequestID = req.ID
	return a.Answer
}

func failure(status bailiff.Status, code string, err error) answer {
	return answer{Answer: answers.Failure(status, code, err)}
}

// at names the backend that the request was to run on.
func (a answer) at(backend string) answer {
	a.Backend = backend
	return a
}

// denial is the answer to a decision that lets nothing run.
func denial(d bailiff.Decision) answer {
	return answer{Answer: bailiff.Answer{Status: bailiff.Refused, ExitCode: bailiff.ExitRefused,
		Message: "Denied: " + bailiff.Sentences(d.ForSender().Denials)}}
}
