package mcp

import (
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// Result is the structure of every result: what of the agent API's answer is of use
// to a model or its client.
type Result struct {
	Status         bailiff.Status `json:"status"`
	Code           string         `json:"code,omitempty"`
	Message        string         `json:"message,omitempty"`
	ExitCode       int            `json:"exit_code"`
	Output         string         `json:"output"`
	OutputEncoding string         `json:"output_encoding,omitempty"`
	Truncated      bool           `json:"truncated,omitempty"`
	ProcessID      string         `json:"process_id,omitempty"`
	Processes      []api.Process  `json:"processes,omitempty"`
	Approval       *api.Approval  `json:"approval,omitempty"`
	DecisionID     string         `json:"decision_id,omitempty"`
	Backend        string         `json:"backend,omitempty"`
}

// told is the result of an answer. What completed is no error, whatever its exit
// code: that is the command's to say, and stands below its output.
func told(a api.Answer) *sdk.CallToolResult {
	return &sdk.CallToolResult{IsError: a.Status != bailiff.Completed, Content: []sdk.Content{&sdk.TextContent{Text: text(a)}},
		StructuredContent: Result{a.Status, a.Code, a.Message, a.ExitCode, a.Output, a.OutputEncoding, a.Truncated,
			a.ProcessID, a.Processes, a.Approval, a.DecisionID, a.Backend}}
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

// failed is the result of a call that the sidecar did not take or answer.
func failed(err error) *sdk.CallToolResult {
	said := bailiff.Sentence(err.Error())
	return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: said}},
		StructuredContent: Result{Status: bailiff.Failed, Message: said, ExitCode: bailiff.ExitFailed}}
}
