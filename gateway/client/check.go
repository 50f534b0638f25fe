package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// What must be in each thing that a sidecar says, as openapi.yaml has it. More
// than that is for later clients.
var (
	inDecided = []string{"decision_id", "decision"}
	inAnswer  = []string{"request_id", "decision_id", "status", "exit_code", "output", "output_encoding", "truncated",
		"duration_seconds", "backend", "sandbox_id", "process_id", "message"}
	inDecision = []string{"outcome", "denials", "backend", "env", "limits", "revision"}
	inApproval = []string{"id", "state", "scope", "by"}
	inOutput   = []string{"seq", "data", "encoding"}
	inProgress = []string{"step"}
	inToolCall = []string{"id", "name", "arguments"}
	inEnded    = []string{"removed", "processes"}

	statuses = []bailiff.Status{bailiff.Completed, bailiff.Refused, bailiff.ApprovalRequired, bailiff.Expired, bailiff.TimedOut,
		bailiff.Interrupted, bailiff.Unavailable, bailiff.Failed}
	states = []bailiff.ApprovalState{bailiff.ApprovalPending, bailiff.ApprovalApproved, bailiff.ApprovalDenied, bailiff.ApprovalExpired,
		bailiff.ApprovalVoid, bailiff.ApprovalCancelled, bailiff.ApprovalUnreachable}
	encodings = []string{"utf8", "base64"}
)

// taken reads what a check, if there is one, finds whole.
func taken[T any](data []byte, check func(T, []byte) error) (said T, err error) {
	if err = json.Unmarshal(data, &said); err == nil && check != nil {
		err = check(said, data)
	}
	if err != nil {
		return *new(T), fmt.Errorf("reading its answer: %w", err)
	}
	return said, nil
}

func checkDecided(_ api.Decided, data []byte) error {
	parts, err := partsOf(data, inDecided)
	if err != nil {
		return err
	}
	return has(parts["decision"], inDecision)
}

func checkAnswer(a api.Answer, data []byte) error {
	parts, err := partsOf(data, inAnswer)
	if err != nil {
		return err
	}
	if decision, there := parts["decision"]; there {
		err = has(decision, inDecision)
	}
	if a.Approval != nil {
		err = errors.Join(err, checkApproval(*a.Approval, parts["approval"]))
	}
	_, unreadable := a.Bytes()
	return errors.Join(err, unreadable, known("status", a.Status, statuses), known("output_encoding", a.OutputEncoding, encodings))
}

func checkApproval(a api.Approval, data []byte) error {
	return errors.Join(has(data, inApproval), known("state", a.State, states))
}

func checkOutput(o api.Output, data []byte) error {
	_, unreadable := o.Bytes()
	return errors.Join(has(data, inOutput), unreadable, known("encoding", o.Encoding, encodings))
}

func checkProgress(_ api.Progress, data []byte) error { return has(data, inProgress) }

func checkToolCall(_ api.ToolCall, data []byte) error { return has(data, inToolCall) }

func checkEnded(_ api.SessionEnded, data []byte) error { return has(data, inEnded) }

func has(data []byte, must []string) error {
	_, err := partsOf(data, must)
	return err
}

// partsOf are the members of an object that has those that it must.
func partsOf(data []byte, must []string) (parts map[string]json.RawMessage, err error) {
	if err := json.Unmarshal(data, &parts); err != nil {
		return nil, err
	}
	for _, name := range must {
		if part, there := parts[name]; !there || string(part) == "null" {
			return nil, fmt.Errorf("it lacks %s", name)
		}
	}
	return parts, nil
}

func known[T ~string](name string, word T, words []T) error {
	if !slices.Contains(words, word) {
		return fmt.Errorf("its %s is %.40q, which nobody knows", name, string(word))
	}
	return nil
}
