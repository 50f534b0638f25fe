package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"strconv"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff/api"
)

const mcpUsage = `Usage: bailiff-hook mcp NAME [flags] -- COMMAND [ARGUMENT…] | URL

Reaches an MCP server by way of the sidecar, over standard input and output: an agent's
client starts this in place of the server. The sidecar starts the server in a sandbox, as
the policies judge its command, or reaches its URL, and judges each call of a tool. People and policies know
the server as NAME. Its tools are denied until an operator has said yes to them, by
"bailiff mcp trust NAME".

Flags:
` + whoUsage + `  --env NAME         a variable that the server asks for; may be repeated
  --header HEADER    a header for a server at a URL, with the name of a variable, as in
                     'Authorization: Bearer $TOKEN'; may be repeated
  --workdir FOLDER   the folder in the sandbox in which the server starts (default: the
                     workspace)
  --backend NAME     the backend to ask for
  --wait SECONDS     how long a call waits for an approval (default: 50)
  --unattended       no person is there to ask

Exit status: 0 when the client has hung up, 1 if the server cannot be reached or has
ended, with the reason on standard error.

Example:
  bailiff-hook mcp filesystem --workdir /workspace -- npx -y @modelcontextprotocol/server-filesystem@2026.1.14 .
`

// openTime bounds the opening of a connection.
const openTime = 10 * time.Second

// speakMCP connects the client to a server, and returns the exit status.
func speakMCP(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) == 0 || args[0] == "--help" || args[0] == "-h" || args[0] == "help" {
		fmt.Fprint(stdout, mcpUsage)
		return 0
	}
	p, opening, err := parseMCP(args)
	if err == nil {
		err = p.carry(opening, stdin, stdout)
	}
	if err != nil {
		fmt.Fprintf(stderr, "bailiff-hook mcp: %v\n", err)
		return 1
	}
	return 0
}

// parseMCP reads the command line.
func parseMCP(args []string) (p program, o api.MCPOpening, err error) {
	flags := flag.NewFlagSet("bailiff-hook mcp", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	p.registerWho(flags)
	flags.BoolVar(&o.Session.Unattended, "unattended", false, "")
	flags.Func("header", "", func(text string) error { o.Headers = append(o.Headers, text); return nil })
	flags.StringVar(&o.Workdir, "workdir", "", "")
	flags.StringVar(&o.Backend, "backend", "", "")
	o.WaitSeconds = flags.Int("wait", api.UsualMCPWait, "")
	if err := flags.Parse(args[1:]); err != nil {
		return p, o, fmt.Errorf(`reading the flags: %w; see "bailiff-hook mcp --help"`, named(err, flags))
	}
	o.Server, o.Command, o.Env = args[0], flags.Args(), p.env
	o.Session.Platform, o.Session.UserID = p.platform, p.user
	if len(o.Command) == 0 {
		return p, o, errors.New(`want the command that starts the server, or its URL, after --; see "bailiff-hook mcp --help"`)
	}
	return p, o, nil
}

// carry carries lines both ways until one side ends.
func (p program) carry(o api.MCPOpening, stdin io.Reader, stdout io.Writer) error {
	conn, from, err := p.open(o)
	if err != nil {
		return fmt.Errorf("reaching the MCP server %s by the sidecar at %s: %w", o.Server, p.listen, err)
	}
	defer func() { _ = conn.Close() }()
	hungUp := make(chan struct{})
	go func() {
		_, _ = io.Copy(conn, stdin) // either way the connection ends
		close(hungUp)
		_ = conn.Close()
	}()
	_, _ = io.Copy(stdout, from) // as above
	select {
	case <-hungUp:
		return nil
	default:
		return fmt.Errorf("the connection to the MCP server %s ended: the server did, or the sidecar; the sidecar's log says how", o.Server)
	}
}

// open opens a connection by which messages go from then on.
func (p program) open(o api.MCPOpening) (net.Conn, *bufio.Reader, error) {
	body, err := json.Marshal(o)
	if err != nil {
		return nil, nil, err
	}
	conn, host, token, err := p.dial(time.Now().Add(openTime))
	if err != nil {
		return nil, nil, err
	}
	from := bufio.NewReader(conn)
	_, err = conn.Write(request("POST /v1/mcp HTTP/1.1", host, token, body, "Connection: Upgrade", "Upgrade: bailiff-mcp"))
	if err == nil {
		err = opened(from)
	}
	if err != nil {
		_ = conn.Close()
		return nil, nil, err
	}
	_ = conn.SetDeadline(time.Time{}) // a broken connection fails what follows
	return conn, from, nil
}

// opened reads the answer to what opens a connection.
func opened(from *bufio.Reader) error {
	head := textproto.NewReader(from)
	line, err := head.ReadLine()
	if err != nil {
		return err
	}
	_, rest, _ := strings.Cut(line, " ")
	status, _, _ := strings.Cut(rest, " ")
	headers, err := head.ReadMIMEHeader()
	switch {
	case err != nil:
		return err
	case status == "101":
		return nil
	case status == "404":
		return errors.New("the sidecar knows of no MCP servers of others: it is older than this program")
	}
	length, _ := strconv.Atoi(headers.Get("Content-Length"))
	answer := make([]byte, min(max(length, 0), most))
	if _, err := io.ReadFull(from, answer); err != nil {
		return fmt.Errorf("status %q, and an answer that is cut off: %w", status, err)
	}
	return problem(status, answer)
}
