package operate

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/cmd/bailiff/cli"
	"github.com/bailiff-dev/bailiff/gateway/client"
	"github.com/bailiff-dev/bailiff/internal/text/linesdiff"
	"github.com/bailiff-dev/bailiff/internal/text/shellquote"
	"github.com/bailiff-dev/bailiff/internal/text/termsafe"
)

// NewMCPTrust is "bailiff mcp trust".
func NewMCPTrust(configPath *string) *cobra.Command {
	var t mcpTrust
	cmd := &cobra.Command{
		Use:   "trust [NAME]",
		Short: "Look at an MCP server of others, and say yes to it",
		Long: `Shows what an MCP server is and offers, as an agent's client reached it last by "bailiff
mcp proxy NAME": the command that starts it, the version that it says it is, what it tells
models, and its tools with their descriptions and schemas. Where a person said yes before,
it shows what is different since. Characters that are not seen are written out.

At a terminal it asks for the yes. Elsewhere --yes says it, with the digest that was shown.
The yes holds for what was shown: once anything of it changes, all tools of the server are
denied until a person has looked again. Without NAME it lists the servers.

Exit status: 0 if the server is trusted, or all are listed; 1 if it is not.`,
		Example: `  bailiff mcp trust
  bailiff mcp trust filesystem
  bailiff mcp trust filesystem --yes 3f9a1c2b
  bailiff mcp trust filesystem --remove`,
		Args: cobra.MaximumNArgs(1),
		RunE: cli.AtOperator(configPath, t.run),
	}
	cli.OutputFlag(cmd, &t.format)
	cmd.Flags().StringVar(&t.digest, "yes", "", "say yes to what has this `digest`, of which the first 8 characters are enough")
	cmd.Flags().BoolVar(&t.remove, "remove", false, "take the yes back, and forget the server")
	return cmd
}

// mcpTrust is "bailiff mcp trust" as its flags order it.
type mcpTrust struct {
	format, digest string
	remove         bool
}

var errUntrusted = errors.New("nothing was said yes to")

func (t *mcpTrust) run(cmd *cobra.Command, operator *client.Client, args []string) error {
	if len(args) == 0 {
		return t.list(cmd, operator)
	}
	name := args[0]
	if t.remove {
		return operator.ForgetMCP(cmd.Context(), name)
	}
	shown, err := operator.MCPServer(cmd.Context(), name)
	if err != nil {
		return err
	}
	if t.digest == "" || t.format == "json" {
		if err := cli.Show(cmd, t.format, shown, func(w io.Writer) { showMCP(w, shown) }); err != nil {
			return err
		}
	}
	if shown.Trusted {
		return nil
	}
	if err := t.agree(cmd, shown); err != nil {
		return err
	}
	if _, err = operator.TrustMCP(cmd.Context(), name, shown.Digest); err == nil && t.format != "json" {
		fmt.Fprintf(cmd.OutOrStdout(), "%s is trusted.\n", termsafe.Text(name))
	}
	return err
}

// shortestDigest is how much of a digest names it.
const shortestDigest = 8

// agree is nil if the person says yes to what was shown.
func (t *mcpTrust) agree(cmd *cobra.Command, shown api.MCPServer) error {
	switch {
	case t.digest != "" && len(t.digest) < shortestDigest:
		return fmt.Errorf("--yes is %q, want %d characters of the digest or more", t.digest, shortestDigest)
	case t.digest != "" && strings.HasPrefix(shown.Digest, t.digest):
		return nil
	case t.digest != "":
		return fmt.Errorf("what %s is and offers now has another digest, %s: look at it again", shown.Server, shown.Digest[:shortestDigest])
	case t.format == "json" || !term.IsTerminal(int(os.Stdin.Fd())): //nolint:gosec // a descriptor fits
		return fmt.Errorf("%w: say it by --yes %s", errUntrusted, shown.Digest[:shortestDigest])
	}
	fmt.Fprintf(cmd.OutOrStdout(), "\nMay agents call these tools, as far as the policies let them? [y/N] ")
	line, err := bufio.NewReader(cmd.InOrStdin()).ReadString('\n')
	if answer := strings.ToLower(strings.TrimSpace(line)); err != nil || answer != "y" && answer != "yes" {
		return errUntrusted
	}
	return nil
}

func (t *mcpTrust) list(cmd *cobra.Command, operator *client.Client) error {
	servers, err := operator.MCPServers(cmd.Context())
	if err != nil {
		return err
	}
	return cli.Show(cmd, t.format, api.MCPServers{Servers: servers}, func(w io.Writer) {
		fmt.Fprintln(w, "SERVER\tTRUSTED\tTOOLS\tIS\tCOMMAND")
		for _, m := range servers {
			trusted := "no"
			if m.Trusted {
				trusted = "yes, by " + m.By
			}
			fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\n", termsafe.Text(m.Server), termsafe.Text(trusted), len(m.Listing.Tools),
				termsafe.Brief(m.Listing.Name+" "+m.Listing.Version, 40), termsafe.Brief(strings.Join(m.Listing.Command, " "), 60))
		}
	})
}

// showMCP shows one server whole, or what is different since the last yes.
func showMCP(w io.Writer, m api.MCPServer) {
	var text strings.Builder
	l := m.Listing
	fmt.Fprintf(&text, "server        %s\ncommand       %s\n", termsafe.Text(m.Server),
		termsafe.Text(shellquote.Join(l.Command...)))
	for _, line := range [][2]string{{"headers       ", strings.Join(l.Headers, ", ")}, {"in folder     ", l.Workdir},
		{"variables     ", strings.Join(l.Env, " ")}, {"backend       ", l.Backend}} {
		if line[1] != "" {
			text.WriteString(line[0] + termsafe.Text(line[1]) + "\n")
		}
	}
	if l.Unpinned {
		text.WriteString("version       NOT PINNED: nothing in the command or URL says which version it is, and another may come at any " +
			"time\n")
	}
	for _, f := range l.Files {
		fmt.Fprintf(&text, "runs          %s %s\n", termsafe.Text(f.Path), f.SHA256)
	}
	says := strings.TrimSpace(l.Name + " " + l.Version)
	if l.Title != "" {
		says += fmt.Sprintf(" (%s)", l.Title)
	}
	fmt.Fprintf(&text, "says it is    %s\ndigest        %s\n", termsafe.Text(says), m.Digest)
	if m.Trusted {
		fmt.Fprintf(&text, "trusted       yes, by %s\n", termsafe.Text(m.By))
	}
	if len(m.Changes) > 0 {
		fmt.Fprintf(&text, "\n%s said yes on %s. Since then:\n", termsafe.Text(m.By), m.At.Format("2006-01-02 15:04"))
		for _, c := range m.Changes {
			text.WriteString(difference(c))
		}
		fmt.Fprint(w, termsafe.Lines(text.String()))
		return
	}
	if l.Instructions != "" {
		fmt.Fprintf(&text, "\nIt tells models:\n%s\n", indented(l.Instructions))
	}
	fmt.Fprintf(&text, "\n%d tools:\n", len(l.Tools))
	for _, tool := range l.Tools {
		text.WriteString(described(tool))
	}
	fmt.Fprint(w, termsafe.Lines(text.String()))
}

// difference is a change with a line for each line that went or came, in the order of the lines.
func difference(c api.MCPChange) string {
	return termsafe.Text(c.What) + ":\n" + linesdiff.Text(c.Before, c.After, "  ")
}

// described is a tool with all that a yes to it is for: its description, the schema of its arguments, and whatever else defines it.
func described(t api.MCPTool) string {
	text := "\n" + termsafe.Text(t.Name) + "\n"
	if t.Refused != "" {
		text += "    is offered to no client: " + termsafe.Text(t.Refused) + "\n"
	}
	var members map[string]json.RawMessage
	var description string
	err := json.Unmarshal(t.Definition, &members)
	if err == nil {
		err = json.Unmarshal([]byte(cmp.Or(string(members["description"]), `""`)), &description)
	}
	if err != nil {
		return text + indented(string(t.Definition)) + "\n"
	}
	if description != "" {
		text += indented(description) + "\n"
	}
	for _, key := range slices.Sorted(maps.Keys(members)) {
		var value bytes.Buffer
		switch name := key; {
		case key == "description", key == "name", json.Compact(&value, members[key]) != nil:
		default:
			if key == "inputSchema" {
				name = "arguments"
			}
			text += indented(termsafe.Text(name)+": "+value.String()) + "\n"
		}
	}
	return text
}

func indented(text string) string {
	return "    " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n    ")
}
