package app

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/gateway/client"
)

// pouring is a server of as many bytes as a path says.
func pouring(b *testing.B, secured bool) *httptest.Server {
	b.Helper()
	piece := make([]byte, 1<<20)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		left, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/"))
		w.Header().Set("Content-Length", strconv.Itoa(left))
		for left > 0 && err == nil {
			_, err = w.Write(piece[:min(left, len(piece))])
			left -= len(piece)
		}
	}))
	if server.EnableHTTP2 = secured; secured {
		server.StartTLS()
	} else {
		server.Start()
	}
	b.Cleanup(server.Close)
	return server
}

// fetched is curl, which prints how many seconds a transfer has taken.
const fetched = "curl -sS -o /dev/null -w '%{time_total}' "

// took reads what curl has printed.
func took(said []byte, err error) (time.Duration, error) {
	if err != nil {
		return 0, fmt.Errorf("%w: %s", err, said)
	}
	seconds, err := strconv.ParseFloat(strings.TrimSpace(string(said)), 64)
	return time.Duration(seconds * float64(time.Second)), err
}

// BenchmarkWayOut compares what a program in a sandbox fetches by the whole way out with the same
// on the host, and with srt of @anthropic-ai/sandbox-runtime as it comes, where that is in the PATH,
// by turns; and commands beside a download with those of an idle sandbox.
func BenchmarkWayOut(b *testing.B) {
	plain, secured := pouring(b, false), pouring(b, true)
	section, sealed := reaching(b, secured)
	at := plain.Listener.Addr().String()
	_, port, _ := strings.Cut(at, ":")
	section = strings.NewReplacer("hosts: {", "hosts: {plain.test: 127.0.0.1, ", "own: [", "own: [\""+at+"\", ").Replace(section)
	opened := func(backend string) *office {
		return startOffice(b, openDir(b), onePerson(b, isolated[backend], section, wayOut(b,
			"      plain.test: [{ports: ["+port+"], protocol: http}]\n      repo.example.com: [{ports: ["+sealed+"]}]\n")))
	}
	s := opened("bubblewrap")
	insideOf := func(s *office, address string) func() (time.Duration, error) {
		return func() (time.Duration, error) {
			req := atTerminal("s", fetched+address)
			req.Backend = ""
			a, err := s.agent.Execute(b.Context(), req, client.News{})
			if err == nil && (a.Status != bailiff.Completed || a.ExitCode != 0) {
				err = fmt.Errorf("%s: %s", a.Status, a.Message)
			}
			return took([]byte(a.Output), err)
		}
	}
	inside := func(address string) func() (time.Duration, error) { return insideOf(s, address) }
	outside := func(line string) func() (time.Duration, error) {
		return func() (time.Duration, error) { return took(exec.Command("sh", "-c", line).CombinedOutput()) }
	}
	ways := map[string]func() (time.Duration, error){
		"sandbox": inside("http://plain.test:" + port + "/1000000000"), "host": outside(fetched + "http://" + at + "/1000000000"),
	}
	if program, err := exec.LookPath("srt"); err == nil {
		settings := filepath.Join(openDir(b), "settings.json")
		text, err := json.Marshal(map[string]any{"network": map[string]any{"allowedDomains": []string{at}, "deniedDomains": []string{}},
			"filesystem": map[string]any{"denyRead": []string{}, "allowWrite": []string{"."}, "denyWrite": []string{}}})
		must(b, err)
		save(b, settings, string(text))
		ways["srt"] = outside(program + " -s " + settings + " -c \"" + fetched + "--noproxy '' http://" + at + "/1000000000\"")
	}
	b.Run("a gigabyte", func(b *testing.B) { byTurns(b, ways) })
	for _, backend := range []string{"bubblewrap", "docker"} {
		b.Run("500 MB, "+backend, func(b *testing.B) {
			of := s
			if backend != "bubblewrap" {
				of = opened(backend)
			}
			byTurns(b, map[string]func() (time.Duration, error){
				"sandbox": insideOf(of, "http://plain.test:"+port+"/500000000"), "host": outside(fetched + "http://" + at + "/500000000"),
			})
		})
	}
	for _, version := range []string{"--http1.1", "--http2"} {
		b.Run("64 MiB of https, "+version, func(b *testing.B) {
			byTurns(b, map[string]func() (time.Duration, error){
				"sandbox": inside(version + " https://repo.example.com:" + sealed + "/67108864"),
				"host":    outside(fetched + version + " --insecure https://" + secured.Listener.Addr().String() + "/67108864"),
			})
		})
	}
	b.Run("true beside a download", func(b *testing.B) {
		busy := atTerminal("busy", "true")
		busy.Backend = ""
		idle := timesOf(b, s, busy)
		endless := atTerminal("busy", fetched+"http://plain.test:"+port+"/1000000000000")
		endless.Backend, endless.Args.Background = "", true
		started := mustComplete(b, s.agent, endless)
		beside := timesOf(b, s, busy)
		b.ReportMetric(float64(idle[len(idle)/2].Microseconds()), "idle-µs")
		b.ReportMetric(float64(beside[len(beside)/2])/float64(idle[len(idle)/2]), "beside/idle")
		b.ReportMetric(float64((beside[len(beside)*99/100] - idle[len(idle)*99/100]).Microseconds()), "p99-more-µs")
		stop := atTerminal("busy", "")
		stop.Tool, stop.Backend = bailiff.Process, ""
		stop.Args = bailiff.Args{Action: "kill", ProcessID: started.ProcessID}
		mustComplete(b, s.agent, stop)
	})
}

// timesOf is how long a request takes, each time that it is sent.
func timesOf(b *testing.B, s *office, req bailiff.Request) (all []time.Duration) {
	b.Helper()
	for range 200 {
		began := time.Now()
		mustComplete(b, s.agent, req)
		all = append(all, time.Since(began))
	}
	backendtest.Median(all) // sorts them
	return all
}

// byTurns reports the rate of a sandbox by that of each other way.
func byTurns(b *testing.B, ways map[string]func() (time.Duration, error)) {
	all, processor := map[string][]time.Duration{}, map[string][]time.Duration{}
	for b.Loop() {
		for name, do := range ways {
			before := processorTime(b)
			one, err := do()
			must(b, err)
			all[name], processor[name] = append(all[name], one), append(processor[name], processorTime(b)-before)
		}
	}
	for name, times := range all {
		b.ReportMetric(float64(backendtest.Median(times).Milliseconds()), name+"-ms")
		b.ReportMetric(float64(backendtest.Median(processor[name]).Milliseconds()), name+"-cpu-ms")
		if name != "sandbox" {
			b.ReportMetric(float64(backendtest.Median(times))/float64(backendtest.Median(all["sandbox"])), "rate/"+name)
			b.ReportMetric(float64(backendtest.Median(processor[name]))/float64(backendtest.Median(processor["sandbox"])), "by-cpu/"+name)
		}
	}
}

// processorTime is what this process, all that it has started and what those have waited for have taken.
func processorTime(b *testing.B) (sum time.Duration) {
	b.Helper()
	const tick = 10 * time.Millisecond
	ours := map[int]bool{os.Getpid(): true}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for again := true; again; {
		again = false
		for i, path := range stats {
			text, _ := os.ReadFile(path)
			_, after, found := strings.Cut(string(text), ") ")
			fields := strings.Fields(after)
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			if !found || path == "" {
				continue
			}
			if above, _ := strconv.Atoi(fields[1]); !ours[pid] && !ours[above] {
				continue
			}
			for _, field := range fields[11:15] {
				ticks, _ := strconv.Atoi(field)
				sum += time.Duration(ticks) * tick
			}
			ours[pid], again, stats[i] = true, true, ""
		}
	}
	return sum
}
