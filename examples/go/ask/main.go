// Command ask has bailiff run a command, as an agent of your own would:
//
//	ask [-listen ADDRESS] [-deadline DURATION] COMMAND
//
// It exits as the command does, or with 126 (denied), 75 (not approved yet), 124,
// 130 or 125 (it failed, or its end is not known).
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/gateway"
	"github.com/bailiff-dev/bailiff/gateway/client"
)

func main() {
	listen := flag.String("listen", "unix:///run/bailiff/agent.sock", "the sidecar's `address`")
	deadline := flag.Duration("deadline", time.Hour, "give up after this `long`")
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), *deadline)
	defer cancel()

	answer, err := ask(ctx, *listen, flag.Arg(0))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(bailiff.ExitFailed)
	}
	if answer.Message != "" {
		fmt.Fprintln(os.Stderr, answer.Message)
	}
	for _, line := range answer.Decision.WithheldBy(answer.ExitCode != 0) {
		fmt.Fprintln(os.Stderr, line)
	}
	os.Exit(answer.ExitCode)
}

func ask(ctx context.Context, address, command string) (api.Answer, error) {
	c, err := client.New(address, bailiff.Secret{})
	if err != nil {
		return api.Answer{}, err
	}
	user := strconv.Itoa(os.Getuid())
	return c.Execute(ctx, bailiff.Request{
		Tool:        bailiff.Terminal,
		Args:        bailiff.Args{Command: command},
		Session:     bailiff.Session{ID: "example:" + user, Platform: "cli", UserID: user}, // who asks: never from what a model says
		WaitSeconds: gateway.UsualWait,
	}, client.News{Output: write, Approval: tell})
}

func write(piece []byte) { _, _ = os.Stdout.Write(piece) }

func tell(a api.Approval) {
	if a.State == bailiff.ApprovalPending {
		fmt.Fprintln(os.Stderr, a.Message)
	}
}
