package mcp

import (
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// MetaResult is the key in a result's _meta under which programs find the [Result].
// It is no structured content, since agents give that to their models in place of the
// text, with every line's end as two characters.
const MetaResult = "bailiff.dev/result"

// Result is the structure of every result: what of the agent API's answer is of use
// to the client.
type Result struct {
	Status   bailiff.Status `json:"status"`
	Code     string         `json:"code,omitempty"`
	Message  string         `json:"message,omitempty"`
	ExitCode int            `json:"exit_code"`
	// Output is there where it is no text, and OutputEncoding then is base64.
	Output         string        `json:"output,omitempty"`
	OutputEncoding string        `json:"output_encoding,omitempty"`
	Truncated      bool          `json:"truncated,omitempty"`
	ProcessID      string        `json:"process_id,omitempty"`
	Processes      []api.Process `json:"processes,omitempty"`
	Approval       *api.Approval `json:"approval,omitempty"`
	DecisionID     string        `json:"decision_id,omitempty"`
	Backend        string        `json:"backend,omitempty"`
	// Egress is what became of the command's connections, where its network is egress.
	Egress *bailiff.EgressTraffic `json:"egress,omitempty"`
}

// told is the result of an answer. What completed is no error, whatever its exit
// code: that is the command's to say, and stands below its output.
func told(a api.Answer) *sdk.CallToolResult {
	r := Result{Status: a.Status, Code: a.Code, Message: a.Message, ExitCode: a.ExitCode, Truncated: a.Truncated, ProcessID: a.ProcessID,
		Processes: a.Processes, Approval: a.Approval, DecisionID: a.DecisionID, Backend: a.Backend,
		Egress: a.Egress}
	if a.OutputEncoding == base64 {
		r.Output, r.OutputEncoding = a.Output, a.OutputEncoding
	}
	return resultOf(text(a), r)
}

// base64 is how output comes that is no text.
const base64 = "base64"

// resultOf is a result with its text and its structure.
func resultOf(text string, r Result) *sdk.CallToolResult {
	return &sdk.CallToolResult{Meta: sdk.Meta{MetaResult: r}, IsError: r.Status != bailiff.Completed,
		Content: []sdk.Content{&sdk.TextContent{Text: text}}}
}

// text is what a model reads: the output, and below it what it does not say.
func text(a api.Answer) string {
	output, err := a.Bytes()
	if err != nil {
		return "The sidecar's answer cannot be read: " + err.Error() + "."
	}
	return below(strings.ToValidUTF8(string(output), "\uFFFD"), strings.Join(remarks(a), "\n"))
}

// remarks are what the output does not say.
func remarks(a api.Answer) (said []string) {
	if a.Message != "" {
		said = append(said, a.Message)
	}
	if a.Status == bailiff.Completed {
		said = append(said, a.Decision.WithheldBy(a.ExitCode != 0)...)
	}
	if a.Approval != nil && a.Approval.URL != "" {
		said = append(said, a.Approval.URL)
	}
	if a.ProcessID == "" { // its message says it
		for _, p := range a.Processes {
			said = append(said, process(p))
		}
	}
	if a.Status == bailiff.Completed && a.ExitCode != 0 {
		said = append(said, fmt.Sprintf("[exit code %d]", a.ExitCode))
	}
	if a.Output == "" && len(said) == 0 {
		said = append(said, "[no output]")
	}
	return said
}

// process is a background process on a line.
func process(p api.Process) string {
	state := "running"
	if p.ExitCode != nil {
		state = fmt.Sprintf("%s, exit code %d", p.Status, *p.ExitCode)
	}
	return fmt.Sprintf("%s [%s] %s", p.ProcessID, state, p.Command)
}

// below puts a text on lines of its own below another.
func below(output, said string) string {
	if output != "" && said != "" && !strings.HasSuffix(output, "\n") {
		output += "\n"
	}
	return output + said
}

// failureResult is the result of a call that the sidecar did not take or answer.
func failureResult(err error) *sdk.CallToolResult {
	said := bailiff.Sentence(err.Error())
	return resultOf(said, Result{Status: bailiff.Failed, Message: said, ExitCode: bailiff.ExitFailed})
}
