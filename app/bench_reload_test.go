package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	reloadRounds = 3
	manyReloads  = 50
	busyReloads  = 32 // processes that keep all processors busy
)

// BenchmarkSaves compares with an earlier commit, which "make bench-reload COMMIT=…" names, how long a save of policies takes
// until a decision follows it, in time and in processor time of the sidecar with all that it starts: quiet, and beside processes
// that keep all processors busy. Each side has the policies of its own tree in a folder, with their tests.
func BenchmarkSaves(b *testing.B) {
	commit := os.Getenv("BAILIFF_BENCH_AGAINST")
	if commit == "" {
		b.Skip("no commit to compare with: see make bench-reload")
	}
	for b.Loop() { // once is enough: each figure is a median
		for name, tree := range map[string]string{"now": "..", "then": checkedOut(b, commit)} {
			s := newReloading(b, builtOf(b, tree))
			measureStarts(b, name, s)
			measureMemory(b, name, s)
			measureSaves(b, name, s)
			s.stop()
		}
	}
}

// reloading is a sidecar whose policies are saved.
type reloading struct {
	*server
	folder, config, socket string
	saves                  int
}

func newReloading(b *testing.B, folder string) *reloading {
	s := &reloading{folder: folder}
	s.config, s.socket = configured(b, folder, "bubblewrap")
	s.start(b)
	return s
}

func (s *reloading) start(b *testing.B) {
	body, err := json.Marshal(inChat("bench", "true"))
	must(b, err)
	s.server = start(b, s.socket, "/v1/decide", body, filepath.Join(s.folder, "bailiff"), "serve", "--config", s.config)
}

// measureStarts reports how long a sidecar takes until it is ready whose policies passed before, and "bailiff decide" beside it.
func measureStarts(b *testing.B, name string, s *reloading) {
	var ready, used, decide, decideUsed []time.Duration
	for range reloadRounds {
		s.stop()
		s.start(b)
		ready, used = append(ready, s.ready), append(used, s.processorOfAll(b))
		cmd := exec.Command(filepath.Join(s.folder, "bailiff"), "decide", "--config", s.config, "--platform", "cli", "--", "true")
		began := time.Now()
		must(b, cmd.Run())
		decide = append(decide, time.Since(began))
		decideUsed = append(decideUsed, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	}
	b.ReportMetric(median(ready).Seconds(), name+"-ready-s")
	b.ReportMetric(median(used).Seconds(), name+"-ready-cpu-s")
	b.ReportMetric(median(decide).Seconds(), name+"-decide-s")
	b.ReportMetric(median(decideUsed).Seconds(), name+"-decide-cpu-s")
}

// BenchmarkMemoryOfSaves shows what the sidecar has in memory when it has given back what a first save took, and what many in a row.
func BenchmarkMemoryOfSaves(b *testing.B) {
	s := newReloading(b, builtOf(b, ".."))
	for b.Loop() { // once is enough
		measureMemory(b, "now", s)
	}
}

func measureMemory(b *testing.B, name string, s *reloading) {
	deny := func(n int) { s.save(b, "house.rego", houseRule("deny", n)) }
	s.timed(b, deny)
	first := s.memoryAtRest(b)
	for range manyReloads {
		s.timed(b, deny)
	}
	last := s.memoryAtRest(b)
	b.ReportMetric(first, name+"-memory-after-1-MB")
	b.ReportMetric(last, name+"-memory-after-50-MB")
	b.ReportMetric(last/first, name+"-memory-after-50/first")
}

// measureSaves reports how long saves take.
func measureSaves(b *testing.B, name string, s *reloading) {
	kinds := map[string]func(n int){
		"deny":     func(n int) { s.save(b, "house.rego", houseRule("deny", n)) },
		"findings": func(n int) { s.save(b, "house.rego", houseRule("findings", n)) },
		"row": func(n int) {
			s.replace(b, "data.yaml", `(?m)^    env:\n`, fmt.Sprintf("    env:\n      HOUSE_%d: []\n", n))
		},
		"helper": func(n int) { s.replace(b, "command_input.rego", `\z`, fmt.Sprintf("\n_supplies(\"house%d\")\n", n)) },
	}
	for kind, save := range kinds {
		s.timed(b, save) // the first has a process start that then stays
		times, used := s.timedRounds(b, save)
		b.ReportMetric(times.Seconds(), name+"-"+kind+"-s")
		b.ReportMetric(used.Seconds(), name+"-"+kind+"-cpu-s")
	}
	quiet, _ := s.timedRounds(b, kinds["deny"])
	end := busy(b, busyReloads)
	loaded, _ := s.timedRounds(b, kinds["deny"])
	end()
	b.ReportMetric(loaded.Seconds(), name+"-deny-busy-s")
	b.ReportMetric(loaded.Seconds()/quiet.Seconds(), name+"-deny-busy/quiet")
}

// memoryAtRest is what the sidecar has in memory when it has given back what a reload took.
func (s *reloading) memoryAtRest(b *testing.B) float64 {
	time.Sleep(5 * time.Second)
	return s.memory(b)
}

func houseRule(set string, n int) string {
	return fmt.Sprintf("package bailiff\n\n%s contains {\"rule\": \"house.no\", \"message\": \"No.\", \"match\": \"x\"} if {\n"+
		"\t\"nmap%d\" in input.command.programs\n}\n", set, n)
}

// save saves a file of the policies as editors do.
func (s *reloading) save(b *testing.B, name, text string) {
	path := filepath.Join(s.folder, "policies", name)
	must(b, os.WriteFile(path+".new", []byte(text), 0o600))
	must(b, os.Rename(path+".new", path))
}

func (s *reloading) replace(b *testing.B, name, pattern, by string) {
	text, err := os.ReadFile(filepath.Join(s.folder, "policies", name))
	must(b, err)
	s.save(b, name, regexp.MustCompile(pattern).ReplaceAllString(string(text), by))
}

func (s *reloading) timedRounds(b *testing.B, save func(n int)) (taken, used time.Duration) {
	var all, processor []time.Duration
	for range reloadRounds {
		one, cpu := s.timed(b, save)
		all, processor = append(all, one), append(processor, cpu)
	}
	return median(all), median(processor)
}

// timed is how long one save takes until a decision follows it.
func (s *reloading) timed(b *testing.B, save func(n int)) (taken, used time.Duration) {
	before, cpu, began := s.revision(b), s.processorOfAll(b), time.Now()
	s.saves++
	save(s.saves)
	for s.revision(b) == before {
		time.Sleep(5 * time.Millisecond)
	}
	return time.Since(began), s.processorOfAll(b) - cpu
}

var aRevision = regexp.MustCompile(`"revision":"([0-9a-f]+)"`)

// revision is the one by which the sidecar decides.
func (s *reloading) revision(b *testing.B) string {
	resp, err := s.client.Post("http://x"+s.path, "application/json", bytes.NewReader(s.body))
	must(b, err)
	defer func() { _ = resp.Body.Close() }()
	var answer bytes.Buffer
	_, err = answer.ReadFrom(resp.Body)
	must(b, err)
	found := aRevision.FindSubmatch(answer.Bytes())
	if found == nil {
		b.Fatalf("no revision in %s", answer.Bytes())
	}
	return string(found[1])
}

// processorOfAll is what the sidecar used with the processes that it started.
func (s *reloading) processorOfAll(b *testing.B) time.Duration {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	must(b, err)
	var used int
	for _, stat := range stats {
		text, err := os.ReadFile(stat)
		if err != nil {
			continue // it has ended
		}
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		own := filepath.Base(filepath.Dir(stat)) == strconv.Itoa(s.pid)
		if !own && fields[1] != strconv.Itoa(s.pid) {
			continue
		}
		for _, field := range fields[11:15] { // user and system mode, its own and that of ended children
			n, err := strconv.Atoi(field)
			must(b, err)
			used += n
		}
	}
	return time.Duration(used) * 10 * time.Millisecond
}

// busy keeps all processors busy.
func busy(b *testing.B, processes int) (end func()) {
	var all []*exec.Cmd
	for range processes {
		one := exec.Command("bash", "-c", "while :; do :; done")
		must(b, one.Start())
		all = append(all, one)
	}
	end = func() {
		for _, one := range all {
			_ = one.Process.Kill()
			_ = one.Wait()
		}
		all = nil
	}
	b.Cleanup(end)
	return end
}
