package export

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/record/syslog"
	"github.com/bailiff-dev/bailiff/internal/tests/porttest"
)

// rsyslog is Debian's, which writes what it understands of each message to a file.
type rsyslog struct {
	t              testing.TB
	folder         string
	udp, tcp, relp string
	process        *exec.Cmd
	told           bytes.Buffer
}

// Of the queue: a message is answered once it is in the file.
const configured = `global(workDirectory="%[1]s" maxMessageSize="256k" parser.escapeControlCharactersOnReceive="off")
main_queue(queue.type="direct")
module(load="imudp") module(load="imtcp") module(load="imrelp")
template(name="fields" type="string" string="%%syslogfacility%% %%syslogseverity%% %%app-name%% %%msgid%% %%msg%%\n")
input(type="imudp" address="127.0.0.1" port="%[2]s")
input(type="imtcp" address="127.0.0.1" port="%[3]s")
input(type="imrelp" address="127.0.0.1" port="%[4]s" maxDataSize="256k")
action(type="omfile" file="%[1]s/messages" template="fields" asyncWriting="off" flushOnTXEnd="on")
`

func startRsyslog(t testing.TB) *rsyslog {
	t.Helper()
	_, err := exec.LookPath("rsyslogd")
	backendtest.Needs(t, "rsyslogd", err)
	r := &rsyslog{t: t, folder: t.TempDir(), udp: porttest.Address(t), tcp: porttest.Address(t), relp: porttest.Address(t)}
	must(t, os.WriteFile(filepath.Join(r.folder, "conf"),
		fmt.Appendf(nil, configured, r.folder, port(r.udp), port(r.tcp), port(r.relp)), 0o600))
	r.start()
	t.Cleanup(func() {
		r.kill()
		if t.Failed() {
			t.Logf("rsyslogd said %s", r.told.Bytes())
		}
	})
	return r
}

func port(address string) string {
	_, port, _ := net.SplitHostPort(address)
	return port
}

func (r *rsyslog) start() {
	r.t.Helper()
	r.process = exec.CommandContext(context.Background(), "rsyslogd", "-n", "-iNONE", "-f", filepath.Join(r.folder, "conf"))
	r.process.Stdout, r.process.Stderr = &r.told, &r.told
	must(r.t, r.process.Start())
	for _, address := range []string{r.tcp, r.relp} {
		await(r.t, "rsyslogd to listen", func() bool {
			conn, err := net.Dial("tcp", address)
			return err == nil && conn.Close() == nil
		})
	}
}

// kill has it end without a chance to do anything.
func (r *rsyslog) kill() {
	_ = r.process.Process.Kill()
	_ = r.process.Wait()
}

// messages are what it has written, a line each.
func (r *rsyslog) messages() []string {
	text, err := os.ReadFile(filepath.Join(r.folder, "messages"))
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// counts returns how many messages it has written so far, looking at what is new only.
func (r *rsyslog) counts() func() int {
	var file *os.File
	r.t.Cleanup(func() { _ = file.Close() })
	n, piece := 0, make([]byte, 1<<20)
	return func() int {
		if file == nil {
			if file, _ = os.Open(filepath.Join(r.folder, "messages")); file == nil {
				return 0
			}
		}
		for {
			read, err := file.Read(piece)
			n += bytes.Count(piece[:read], []byte("\n"))
			if err != nil {
				return n
			}
		}
	}
}

// exporter sends the log of a folder to one of its inputs.
func (r *rsyslog) exporter(stateDir, address string) *Exporter {
	r.t.Helper()
	client, err := syslog.New(syslog.Server{Address: address}, nil)
	must(r.t, err)
	e, err := New(Config{StateDir: stateDir, Cursor: "syslog.json", Receiver: client, Observer: &counted{},
		Log: slog.New(slog.DiscardHandler)})
	must(r.t, err)
	r.t.Cleanup(client.Close)
	return e
}

// ids are those of the events that came, each once, in the order of their first.
func (r *rsyslog) ids() string {
	var ids []string
	for _, line := range r.messages() {
		_, text, _ := strings.Cut(line, "{")
		event, err := api.ReadLine([]byte("{" + text))
		if err != nil || !strings.HasPrefix(line, "13 6 bailiff decision {") {
			r.t.Errorf("%q is no message of an event: %v", line, err)
		}
		if !slices.Contains(ids, event.DecisionID) {
			ids = append(ids, event.DecisionID)
		}
	}
	return strings.Join(ids, " ")
}

func TestEventsComeBySyslogWhole(t *testing.T) {
	t.Parallel()
	r := startRsyslog(t)
	var want []string
	for i, address := range []string{"udp://" + r.udp, "tcp://" + r.tcp, "relp://" + r.relp} {
		dir := t.TempDir()
		log := newLog(t, dir)
		ids := numbers(100*i, 100*i+70)
		record(t, log, ids...)
		e := r.exporter(dir, address)
		must(t, e.send(t.Context(), log.Written()))
		want = append(want, ids...)
		await(t, "the events by "+address, func() bool { return len(r.messages()) >= len(want) })
		if settled := e.now().settled == log.Written(); settled == strings.HasPrefix(address, "tcp:") {
			t.Errorf("by %s all of it is known to have come: %v", address, settled)
		}
	}
	if got := r.ids(); got != strings.Join(want, " ") {
		t.Errorf("it has %s", got)
	}
}

func TestByRELPNothingIsLostWhenTheReceiverIsKilled(t *testing.T) {
	t.Parallel()
	r, dir := startRsyslog(t), t.TempDir()
	log := newLog(t, dir)
	e := r.exporter(dir, "relp://"+r.relp)
	for round := range 5 {
		record(t, log, numbers(200*round, 200*round+199)...)
		sending := make(chan error, 1)
		go func() { sending <- e.send(t.Context(), log.Written()) }()
		r.kill()
		if err := <-sending; err != nil {
			e.failed(err)
		}
		r.start()
		e = r.exporter(dir, "relp://"+r.relp) // as after a kill of the sidecar
	}
	must(t, e.send(t.Context(), log.Written()))
	if got := r.ids(); got != strings.Join(numbers(0, 999), " ") {
		t.Errorf("it has %s", got)
	}
}

func TestByTCPWhatMayBeLostIsSentAgain(t *testing.T) {
	t.Parallel()
	r, dir := startRsyslog(t), t.TempDir()
	log := newLog(t, dir)
	record(t, log, numbers(1, 50)...)
	e := r.exporter(dir, "tcp://"+r.tcp)
	must(t, e.send(t.Context(), log.Written()))
	r.kill()
	must(t, os.RemoveAll(filepath.Join(r.folder, "messages"))) // as if it had not written them
	r.start()
	record(t, log, numbers(51, 60)...)
	await(t, "the break to be seen", func() bool {
		err := e.send(t.Context(), log.Written())
		if err != nil {
			e.failed(err)
		}
		return err == nil && e.now().cursor == log.Written() && len(r.messages()) >= 60
	})
	if got := r.ids(); got != strings.Join(numbers(1, 60), " ") {
		t.Errorf("it has %s", got)
	}
}
