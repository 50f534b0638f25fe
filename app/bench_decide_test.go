package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/catalogue"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/judging/offline"
)

const (
	benchClients  = 8
	benchRequests = 100 // of each client in one round
)

// BenchmarkDecide compares POST /v1/decide with "opa run --server": the same
// policies, the same input document, both on a Unix socket with their decision
// log on, eight clients each, in turns. What a request costs is the processor
// time of the server's process; beyond the bare evaluation means without the
// time that the prepared query takes for the same input. Every request is a new
// one, except in "repeated", which shows what remembering judgements saves.
func BenchmarkDecide(b *testing.B) {
	b.Run("new", func(b *testing.B) {
		ours, theirs, bare := benchDecide(b, func(n int64) string { return strconv.FormatInt(n, 10) })
		b.ReportMetric(float64(bare.Microseconds()), "bare-µs")
		b.ReportMetric(float64((ours.cost() - bare).Microseconds()), "bailiff-beyond-µs")
		b.ReportMetric(float64((theirs.cost() - bare).Microseconds()), "opa-beyond-µs")
		b.ReportMetric(float64(ours.cost()-bare)/float64(theirs.cost()-bare), "beyond-ratio")
	})
	b.Run("repeated", func(b *testing.B) { benchDecide(b, func(int64) string { return "0" }) })
}

// benchDecide asks about a text of each name.
func benchDecide(b *testing.B, name func(n int64) string) (ours, theirs *server, bare time.Duration) {
	folder := b.TempDir()
	request, input, bare := benchCase(b)
	sides := map[string]*server{
		"bailiff": startBailiff(b, folder, request),
		"opa":     startOPA(b, folder, input),
	}
	for _, s := range sides {
		s.name = name
		s.round(b) // warm
		s.reset()
	}
	for b.Loop() {
		for _, name := range []string{"bailiff", "opa"} {
			sides[name].round(b)
		}
	}
	ours, theirs = sides["bailiff"], sides["opa"]
	for name, s := range sides {
		b.ReportMetric(s.rate(), name+"-req/s")
		b.ReportMetric(float64(s.percentile(99).Microseconds()), name+"-p99-µs")
		b.ReportMetric(float64(s.cost().Microseconds()), name+"-cost-µs")
	}
	b.ReportMetric(float64(ours.cost())/float64(theirs.cost()), "cost-ratio")
	b.ReportMetric(ours.rate()/theirs.rate(), "req/s-ratio")
	return ours, theirs, bare
}

// mark is where the text of a request has what tells it from others.
const mark = "TestOfThisRequest"

// benchCase is a request, its input document, and the median time of the bare
// evaluation.
func benchCase(b *testing.B) (request, input []byte, bare time.Duration) {
	policies, err := offline.OpenPolicies(b.Context(), config.Default(catalogue.All()))
	must(b, err)
	req := inChat("bench", "cd src && go test ./... -run "+mark+" | tee out.txt")
	at := bailiff.Circumstances{Time: time.Now(), Backends: map[string]bailiff.BackendState{"bubblewrap": {Isolated: true, Ready: true}}}
	judged := policies.Decide(context.Background(), req, at)
	var mu sync.Mutex
	var times []time.Duration
	var busy sync.WaitGroup
	for worker := range runtime.GOMAXPROCS(0) { // as busy as the servers keep the machine
		busy.Go(func() {
			for n := range 1000 {
				one := req
				one.Args.Command = strings.ReplaceAll(req.Args.Command, mark, fmt.Sprintf("%d-%d", worker, n)) // so that each is evaluated
				timers := policies.Decide(context.Background(), one, at).Timers
				mu.Lock()
				times = append(times, time.Duration(timers["timer_rego_query_eval_ns"]))
				mu.Unlock()
			}
		})
	}
	busy.Wait()
	document, err := judged.Input.MarshalJSON()
	must(b, err)
	request, err = json.Marshal(req)
	must(b, err)
	return request, fmt.Appendf(nil, `{"input": %s}`, document), median(times)
}

// server is one side: a process, and how to ask it.
type server struct {
	pid    int
	stop   func()
	ready  time.Duration // from its start to its first answer
	client *http.Client
	path   string
	body   []byte // with mark
	name   func(n int64) string
	asked  atomic.Int64

	// mayFail says that a request which fails ends no round, and is among the failures.
	mayFail bool

	mu       sync.Mutex
	failures []error
	times    []time.Duration
	wall     time.Duration
	began    time.Duration // of processor time
}

func startBailiff(b *testing.B, folder string, body []byte) *server {
	sockets := openDir(b)
	config := benchConfig(b, folder, sockets, "", noMetrics, "backends: {bubblewrap: {}}")
	buildPrograms(b, "..", folder)
	return start(b, sockets+"/a.sock", "/v1/decide", body, filepath.Join(folder, "bailiff"), "serve", "--config", config)
}

const noMetrics = `metrics: {listen: ""}`

// benchConfig writes a configuration of a sidecar with its state in one folder and its sockets, a.sock and o.sock, in another;
// operator is what else its section says, beginning with a comma.
func benchConfig(tb testing.TB, state, sockets, operator string, sections ...string) (path string) {
	tb.Helper()
	path = filepath.Join(state, "bailiff.yaml")
	must(tb, os.WriteFile(path, fmt.Appendf(nil, `state_dir: %s/state
agent: {listeners: [{name: test, listen: "unix://%[2]s/a.sock"}]}
operator: {listen: "unix://%[2]s/o.sock"%[3]s}
%[4]s
`, state, sockets, operator, strings.Join(sections, "\n")), 0o600))
	return path
}

// buildPrograms builds what "make build" does of a tree.
func buildPrograms(tb testing.TB, tree, folder string) {
	for _, program := range []string{"bailiff", "bailiff-runner"} {
		mustRun(tb, "go", "build", "-C", tree, "-trimpath", "-tags", "grpcnotrace", "-ldflags", "-s -w", "-o",
			filepath.Join(folder, program), "./cmd/"+program)
	}
}

func startOPA(b *testing.B, folder string, body []byte) *server {
	opa := filepath.Join(folder, "opa")
	mustRun(b, "go", "build", "-o", opa, "github.com/open-policy-agent/opa")
	socket := filepath.Join(openDir(b), "opa.sock")
	policies := filepath.Join(folder, "policies")
	mustRun(b, "cp", "-r", "../policies", policies)
	mustRun(b, "find", policies, "(", "-name", "*_test.rego", "-o", "-name", "*.go", "-o", "-name", "schema", "-o", "-name",
		"testdata", ")", "-exec", "rm", "-r", "{}", "+")
	return start(b, socket, "/v1/data/bailiff/decision", body, opa, "run", "--server", "--addr", "unix://"+socket,
		"--set", "decision_logs.console=true", policies)
}

func start(tb testing.TB, socket, path string, body []byte, argv ...string) *server {
	cmd := exec.Command(argv[0], argv[1:]...)
	log, err := os.Create(filepath.Join(tb.TempDir(), "log"))
	must(tb, err)
	cmd.Stdout, cmd.Stderr = log, log
	began := time.Now()
	must(tb, cmd.Start())
	stop := sync.OnceFunc(func() { _ = cmd.Process.Signal(os.Interrupt); _ = cmd.Wait() })
	tb.Cleanup(stop)
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}
	s := &server{pid: cmd.Process.Pid, stop: stop, path: path, body: body, name: func(int64) string { return "0" },
		client: &http.Client{Transport: &http.Transport{DialContext: dial, MaxIdleConnsPerHost: benchClients}}}
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if _, err := s.ask(); err == nil {
			s.ready = time.Since(began)
			return s
		} else if time.Now().After(deadline) {
			text, _ := os.ReadFile(log.Name())
			tb.Fatalf("%v: %v\n%.2000s", argv, err, text)
		}
	}
}

func (s *server) ask() (time.Duration, error) {
	body := bytes.ReplaceAll(s.body, []byte(mark), []byte(s.name(s.asked.Add(1))))
	began := time.Now()
	resp, err := s.client.Post("http://x"+s.path, "application/json", bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err == nil && !bytes.Contains(text, []byte(`"outcome":"allow"`)) {
		err = fmt.Errorf("answered %d %s", resp.StatusCode, text)
	}
	return time.Since(began), err
}

// post sends one request, whose answer must hold a text. It may be called concurrently.
func (s *server) post(tb testing.TB, path string, body []byte, wanted string) {
	resp, err := s.client.Post("http://x"+path, "application/json", bytes.NewReader(body))
	if err != nil {
		tb.Error(err)
		return
	}
	defer func() { _ = resp.Body.Close() }()
	if answer, err := io.ReadAll(resp.Body); err != nil || !strings.Contains(string(answer), wanted) {
		tb.Errorf("answered %.500s %v, want %s", answer, err, wanted)
	}
}

// round has every client ask in a row, all of them at once.
func (s *server) round(b *testing.B) {
	began := time.Now()
	var clients sync.WaitGroup
	for range benchClients {
		clients.Go(func() {
			times := make([]time.Duration, benchRequests)
			for i := range times {
				var err error
				times[i], err = s.ask()
				if err != nil && s.mayFail {
					s.fail(err)
				} else if err != nil {
					b.Error(err)
					return
				}
			}
			s.mu.Lock()
			s.times = append(s.times, times...)
			s.mu.Unlock()
		})
	}
	clients.Wait()
	s.wall += time.Since(began)
}

func (s *server) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures = append(s.failures, err)
}

func (s *server) reset() {
	s.times, s.wall, s.began = nil, 0, s.processor()
}

// cost is the processor time of one request.
func (s *server) cost() time.Duration { return (s.processor() - s.began) / time.Duration(len(s.times)) }

func (s *server) rate() float64 { return float64(len(s.times)) / s.wall.Seconds() }

func (s *server) percentile(p int) time.Duration {
	slices.Sort(s.times)
	return s.times[len(s.times)*p/100]
}

// processor is the time that the process has used, in user and system mode; the
// kernel counts it in hundredths of a second.
func (s *server) processor() time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond
}

var resident = regexp.MustCompile(`VmRSS:\s+(\d+)`)

// memory is what the process has in memory, in MB.
func (s *server) memory(tb testing.TB) float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.pid))
	must(tb, err)
	kilobytes, err := strconv.Atoi(string(resident.FindSubmatch(text)[1]))
	must(tb, err)
	return float64(kilobytes) / 1024
}
