package backendtest

import (
	"bufio"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
)

func outletChecks() []check {
	return []check{
		promise("A sandbox has an outlet only if its network is egress", OnPlace, outletRefused),
		promise("Connections reach the sidecar with the address that was dialled", onRunner, outletLabels, outlets),
		promise("A hundred connections at once are whole both ways", OnStream, outletMany, outlets),
		promise("The end of a connection and a reset reach the other side", onRunner, outletEnds, outlets),
		promise("Connections that are not read hold up no other and no command", OnStream, outletSlow, outlets),
		promise("No more connections are open than the bound", onRunner, outletLimit, outlets),
		promise("An outlet is the only way out", OnPlace|OnUser, outletOnly, outlets),
		promise("No sandbox reaches the outlet of another", OnPlace, outletOwn, outlets),
		promise("The sidecar's certificate is where programs find it", OnPlace, outletTrust, outlets),
		promise("An adopted sandbox gets its outlet anew where it was", OnPlace|OnStream, outletAdopted, outlets, adopts),
	}
}

// outlets is the condition that the backend can give sandboxes an outlet.
func outlets(c Config, b backends.Backend) string { return cmp.Or(networkless(c, b), c.NoOutlet) }

//go:embed outlet.py
var speaker string

// speaking is a program that calls a function of outlet.py.
func speaking(function string, arguments ...any) backends.Command {
	words := make([]string, len(arguments))
	for i, argument := range arguments {
		text, _ := json.Marshal(argument) // which Python reads as well
		words[i] = string(text)
	}
	return python(fmt.Sprintf("%s\n%s(%s)\n", speaker, function, strings.Join(words, ", ")))
}

// withOutlet opens a sandbox whose connections serve gets.
func (b box) withOutlet(t *testing.T, terms backends.OutletTerms, serve func(backends.OutletConn)) (box, backends.OutletFacts) {
	t.Helper()
	spec := b.spec
	spec.Network = backends.Egress
	other := b.another(t, spec)
	facts, err := other.openOutlet(terms, serve)
	Must(t, err)
	return other, facts
}

func (b box) openOutlet(terms backends.OutletTerms, serve func(backends.OutletConn)) (backends.OutletFacts, error) {
	outlet, able := b.Sandbox.(backends.Outlet)
	if !able {
		return backends.OutletFacts{}, fmt.Errorf("%w: it is no Outlet", backends.ErrUnsupported)
	}
	return outlet.OpenOutlet(b.t.Context(), terms, serve)
}

// echoing sends back what comes, and ends when that does.
func echoing(c backends.OutletConn) {
	defer c.Close()
	if _, err := io.Copy(c, c); err == nil {
		_ = c.CloseWrite()
	}
}

func outletRefused(t *testing.T, b box) {
	if _, err := b.openOutlet(backends.OutletTerms{MostConnections: 1}, echoing); !errors.Is(err, backends.ErrUnsupported) {
		t.Errorf("an outlet of a sandbox whose network is %s: error is %v", b.spec.Network, err)
	}
	if outlets(*b.cfg, b.backend) != "" {
		return
	}
	other, _ := b.withOutlet(t, backends.OutletTerms{MostConnections: 1}, echoing)
	if _, err := other.openOutlet(backends.OutletTerms{MostConnections: 1}, echoing); !errors.Is(err, backends.ErrUnsupported) {
		t.Errorf("a second outlet: error is %v", err)
	}
}

func outletLabels(t *testing.T, b box) {
	b, facts := b.withOutlet(t, backends.OutletTerms{MostConnections: 4}, func(c backends.OutletConn) {
		defer c.Close()
		said, _ := io.ReadAll(c)
		fmt.Fprintf(c, "%s by %d", said, c.Label())
	})
	for _, label := range []uint32{0, 2, 300, 70_000, 1<<22 - 1} {
		b.prints(fmt.Sprintf("label %d", label), speaking("echo", backends.OutletHost(label).String(), facts.Port, "hello"),
			fmt.Sprintf("hello by %d\n", label))
	}
}

func outletMany(t *testing.T, b box) {
	b, facts := b.withOutlet(t, backends.OutletTerms{MostConnections: 100}, echoing)
	b.prints("a hundred connections", speaking("many", backends.OutletHost(5).String(), facts.Port, 100, 512<<10), "0\n")
	const most = 16 << 10
	_, peak := b.run(shell(`while read k v _; do [[ $k == PPid: ]] && grep VmHWM /proc/$v/status; done </proc/$PPID/status`))
	if kilobytes := peakIn(peak); kilobytes > most {
		t.Errorf("the runner: %q, want at most %d kB", peak, most)
	} else {
		t.Logf("the runner's peak: %d kB", kilobytes)
	}
}

func outletEnds(t *testing.T, b box) {
	broken := make(chan error, 1)
	b, facts := b.withOutlet(t, backends.OutletTerms{MostConnections: 4}, func(c backends.OutletConn) {
		word, _ := bufio.NewReader(c).ReadString('\n')
		switch strings.TrimSpace(word) {
		case "end":
			_, _ = io.WriteString(c, "a word")
			c.Close()
		case "reset":
			c.Reset("it is a test")
		case "break":
			_, _ = io.WriteString(c, "x")
			_, err := io.Copy(io.Discard, c)
			broken <- err
		}
	})
	host := backends.OutletHost(7).String()
	b.prints("an end", speaking("wait", host, facts.Port, "end"), "end after a word\n")
	b.prints("a reset", speaking("wait", host, facts.Port, "reset"), "reset\n")
	b.prints("a sender whose hearer has gone", speaking("flood", host, facts.Port, "end"), "reset\n")
	b.prints("a program that resets", speaking("break_off", host, facts.Port, "break"), "")
	if err := <-broken; err == nil || !strings.Contains(err.Error(), "reset") {
		t.Errorf("a connection that the program reset ended with %v", err)
	}
}

// outletSlow has more connections that are not read, in either direction, than all may
// have in flight together.
func outletSlow(t *testing.T, b box) {
	const each = 40
	over := make(chan struct{})
	var all sync.WaitGroup
	t.Cleanup(all.Wait)
	t.Cleanup(func() { close(over) })
	stuck := make(chan backends.OutletConn, each)
	b, facts := b.withOutlet(t, backends.OutletTerms{MostConnections: 3 * each}, func(c backends.OutletConn) {
		all.Add(1)
		defer all.Done()
		defer c.Close()
		reader := bufio.NewReader(c)
		switch word, _ := reader.ReadString('\n'); strings.TrimSpace(word) {
		case "deaf":
			<-over
		case "unheard":
			go func() { <-over; c.Reset("the test is over") }()
			_ = c.SetWriteDeadline(time.Now().Add(time.Second))
			_, err := c.Write(make([]byte, 16<<20))
			if errors.Is(err, os.ErrDeadlineExceeded) {
				stuck <- c
			}
			<-over
		default:
			_, _ = io.WriteString(c, word)
			_, _ = io.Copy(c, reader)
		}
	})
	host := backends.OutletHost(9).String()
	ctx, cancel := context.WithCancel(context.Background())
	var ends []<-chan struct{}
	for function, word := range map[string]string{"hold": "unheard", "stuff": "deaf"} {
		ready, ended := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(ended)
			held := sync.OnceFunc(func() { close(ready) })
			cmd := speaking(function, host, facts.Port, word, each)
			_, _ = b.Run(ctx, cmd, func([]byte) { held() })
			held()
		}()
		<-ready
		ends = append(ends, ended)
	}
	for range each {
		<-stuck
	}
	b.prints("another connection", speaking("echo", host, facts.Port, "hello\n"), "hello\n\n")
	b.prints("a big one", speaking("many", host, facts.Port, 2, 1<<20), "0\n")
	b.says("head -c 3000000 /dev/zero | wc -c", "3000000\n")
	cancel()
	for _, ended := range ends {
		<-ended
	}
}

func outletLimit(t *testing.T, b box) {
	const most = 8
	b, facts := b.withOutlet(t, backends.OutletTerms{MostConnections: most}, echoing)
	b.prints("the bound", speaking("limit", backends.OutletHost(1<<20).String(), facts.Port, most),
		"within True\nbeyond False\nended True\nagain True\n")
}

func outletOnly(t *testing.T, b box) {
	b, facts := b.withOutlet(t, backends.OutletTerms{MostConnections: 4}, echoing)
	b.prints("what takes its place", speaking("squat", facts.Port), "")
	if !b.cfg.Remote {
		noNetwork(t, b)
	}
	for _, kill := range []string{"kill -STOP -1", "kill -9 -1"} {
		b.run(shell(kill))
		b.prints("the outlet after "+kill, speaking("echo", backends.OutletHost(3).String(), facts.Port, "still there"), "still there\n")
	}
	b.prints("a program that tries to stop the runner", speaking("stop_others"), "")
	b.prints("the outlet after that", speaking("echo", backends.OutletHost(3).String(), facts.Port, "still there"), "still there\n")
	NoError(t, b.Kill(context.Background()))
}

// outletOwn has other sandboxes dial what one sandbox listens on.
func outletOwn(t *testing.T, b box) {
	var strangers atomic.Int32
	first, facts := b.withOutlet(t, backends.OutletTerms{MostConnections: 4}, func(c backends.OutletConn) {
		if said, _ := io.ReadAll(c); string(said) != "its own" {
			strangers.Add(1)
		}
		c.Close()
	})
	second, _ := b.withOutlet(t, backends.OutletTerms{MostConnections: 4}, echoing)
	for _, label := range []uint32{0, 3} {
		host := backends.OutletHost(label).String()
		first.prints("its own outlet", speaking("echo", host, facts.Port, "its own"), "\n")
		second.prints("another sandbox's", speaking("echo", host, facts.Port, "a stranger"), "a stranger\n")
		b.prints("one of a sandbox without a network", speaking("nobody", host, facts.Port), "refused\n")
	}
	if n := strangers.Load(); n > 0 {
		t.Errorf("%d connections came from another sandbox", n)
	}
}

func outletTrust(t *testing.T, b box) {
	const certificate = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
	b, facts := b.withOutlet(t, backends.OutletTerms{MostConnections: 4, CA: []byte(certificate)}, echoing)
	b.says("cat "+facts.CAFile, certificate)
	b.says("tail -n 3 "+facts.Bundle, certificate)
	b.says("for f in /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt; do [ -s $f ] || continue; "+
		"head -c $(($(stat -Lc %s $f) - 1)) $f | cmp -n $(($(stat -Lc %s $f) - 1)) - "+facts.Bundle+"; break; done", "")
	other, facts := b.withOutlet(t, backends.OutletTerms{MostConnections: 4}, echoing)
	if facts.CAFile != "" || facts.Bundle != "" {
		t.Errorf("without a certificate there are %s and %s", facts.CAFile, facts.Bundle)
	}
	other.noneAlive()
}

func outletAdopted(t *testing.T, b box) {
	opened := make(chan struct{})
	first, before := b.withOutlet(t, backends.OutletTerms{MostConnections: 4}, func(c backends.OutletConn) {
		_, _ = bufio.NewReader(c).ReadString('\n')
		close(opened)
	})
	cmd := speaking("wait", backends.OutletHost(11).String(), before.Port, "kept")
	cmd.Argv, cmd.Stdin = []string{"python3", "-c", string(cmd.Stdin)}, nil
	p, err := first.Start(context.Background(), cmd, "kept")
	Must(t, err)
	<-opened
	sandbox, err := first.adopt(first.spec)
	Must(t, err)
	second := first.holding(sandbox, first.spec)
	t.Cleanup(func() { NoError(t, second.Close(context.Background())) })
	known, err := second.Processes(t.Context())
	Must(t, err)
	at := slices.IndexFunc(known, func(k backends.Process) bool { return k.Tag() == p.Tag() })
	if at < 0 {
		t.Fatalf("in the background there are %v", known)
	}
	<-known[at].Done() // its connection was the first sidecar's
	if piece, err := known[at].Log(t.Context(), 0, 100); err != nil || string(piece.Data) != "reset\n" {
		t.Errorf("a connection of the first sidecar's ended with %q, %v", piece.Data, err)
	}
	after, err := second.openOutlet(backends.OutletTerms{MostConnections: 4}, echoing)
	if err != nil || after.Port != before.Port {
		t.Fatalf("the outlet is at %d, %v, and was at %d", after.Port, err, before.Port)
	}
	second.prints("the outlet", speaking("echo", backends.OutletHost(3).String(), after.Port, "again"), "again\n")
}
