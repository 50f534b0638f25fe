package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/cmd/bailiff/cli"
)

func newMCPProxy(configPath *string) *cobra.Command {
	var p proxyMCP
	cmd := &cobra.Command{
		Use:   "proxy NAME -- COMMAND [ARGUMENT…] | URL",
		Short: "Reach an MCP server of others by way of the sidecar, over standard input and output",
		Long: `Puts an MCP server of others behind bailiff: an agent starts this in place of the server.
The sidecar starts the server in a sandbox, as the policies judge its command, and judges
each call of a tool with its arguments. People and policies know the server as NAME.
A server at a URL is reached by Streamable HTTP, as far as the rows of the network egress
let it, and is sent the headers that are named, with the values of variables that the table
env swaps for its host.

Its tools are denied until a person has said yes to what it is and offers, by "bailiff mcp
trust NAME", and again once any of that changes. The table mcp_tools of the policies names
the tools that may be called; a tool that it does not name is denied.

It becomes bailiff-hook, a small program beside this one, which carries the messages.

Exit status: 0 when the agent has hung up, 1 if the server cannot be reached or has ended.`,
		Example: `  bailiff mcp proxy filesystem -- npx -y @modelcontextprotocol/server-filesystem@2026.1.14 .
  bailiff mcp proxy notes --header 'Authorization: Bearer $NOTES_TOKEN' -- https://notes.example.com/mcp
  claude mcp add filesystem -- bailiff mcp proxy filesystem -- npx -y @modelcontextprotocol/server-filesystem@2026.1.14 .`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(_ *cobra.Command, args []string) error { return p.become(*configPath, args) },
	}
	p.who.RegisterSession(cmd, "one of its own")
	f := cmd.Flags()
	for _, name := range []string{"session", "chat", "chat-type", "thread"} { // the session is the connection
		_ = f.MarkHidden(name)
	}
	f.IntVar(&p.who.Wait, "wait", api.UsualMCPWait, "how many `seconds` a call waits for an approval")
	f.StringArrayVar(&p.headers, "header", nil, "a `header` for a server at a URL, as in 'Authorization: Bearer $TOKEN'; may be repeated")
	f.StringVar(&p.workdir, "workdir", "", "the `folder` in the sandbox in which the server starts (default: the workspace)")
	f.StringVar(&p.backend, "backend", "", "the backend to ask for, by `name`")
	p.where.Register(cmd)
	return cmd
}

// proxyMCP is "bailiff mcp proxy" as its flags order it.
type proxyMCP struct {
	who              cli.Claim
	where            cli.AgentAddress
	workdir, backend string
	headers          []string
}

// become replaces this program by the small one.
func (p *proxyMCP) become(configPath string, args []string) error {
	if p.who.Wait < 0 || p.who.Wait > longestWait {
		return fmt.Errorf("--wait is %d, want seconds from 0 to %d", p.who.Wait, longestWait)
	}
	own, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding bailiff-hook: %w", err)
	}
	hook := filepath.Join(filepath.Dir(own), "bailiff-hook")
	listen, tokenFile, err := p.where.Find(configPath, p.who.Session.Platform)
	if err != nil {
		return err
	}
	argv := []string{hook, "mcp", args[0], "--listen", listen, "--platform", p.who.Session.Platform, "--user", p.who.Session.UserID}
	for flag, value := range map[string]string{"--token-file": tokenFile, "--workdir": p.workdir, "--backend": p.backend} {
		if value != "" {
			argv = append(argv, flag, value)
		}
	}
	for _, name := range p.who.Env {
		argv = append(argv, "--env", name)
	}
	for _, header := range p.headers {
		argv = append(argv, "--header", header)
	}
	argv = append(argv, "--wait", strconv.Itoa(p.who.Wait))
	if p.who.Session.Unattended {
		argv = append(argv, "--unattended")
	}
	err = syscall.Exec(hook, append(append(argv, "--"), args[1:]...), os.Environ())
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("there is no bailiff-hook beside %s: install all of bailiff's programs in one folder", own)
	}
	return fmt.Errorf("starting %s: %w", hook, err)
}
