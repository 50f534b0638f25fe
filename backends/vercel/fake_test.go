package vercel

import (
	"archive/tar"
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/backends/backendtest/machine"
)

// fake is Vercel as far as a backend can tell: an account whose machines are places
// on this kernel. Every request that Vercel's own client would not make fails the
// test.
type fake struct {
	tb     testing.TB
	server *httptest.Server

	mu        sync.Mutex
	sandboxes map[string]*lent
	sessions  map[string]*lent
	drives    map[string]*fakeDrive
	numbers   int
	faults    []*injected
	asked     []string // what was asked, as "METHOD /path"
	bodies    map[string][]map[string]any
	// most is how long a machine may run.
	most time.Duration
}

const (
	fakeToken   = "token-of-the-team"
	fakeTeam    = "team_1"
	fakeProject = "prj_1"
	fakeImage   = "vercel/sandbox/universal"
	fakeDigest  = "@sha256:5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef"
)

// injected is a fault that a request meets: an answer, or a function that does what
// it likes and says whether the request is still to be done.
type injected struct {
	call  string
	times int
	meet  func(w http.ResponseWriter, r *http.Request) (goOn bool)
}

// lent is a sandbox with its machine.
type lent struct {
	fake    *fake
	wanted  wanted
	id      string
	created time.Time
	machine *machine.Machine
	files   *files
	timer   *time.Timer
	// The fake's lock holds for these.
	status   string
	timeout  time.Duration
	commands map[string]*command
	booted   chan struct{}
	ended    chan struct{}
}

type fakeDrive struct {
	name, folder string
	size         int64
	by           *lent
	created      time.Time
}

func newFake(tb testing.TB) *fake {
	tb.Helper()
	machine.Needs(tb)
	f := &fake{tb: tb, sandboxes: map[string]*lent{}, sessions: map[string]*lent{}, drives: map[string]*fakeDrive{},
		bodies: map[string][]map[string]any{}, most: 24 * time.Hour}
	f.server = httptest.NewServer(f)
	tb.Cleanup(func() {
		f.server.CloseClientConnections()
		f.server.Close()
	})
	return f
}

// inject has the next requests of a call, such as "POST /v3/sandboxes" or "fs/write",
// meet a fault.
func (f *fake) inject(call string, times int, meet func(http.ResponseWriter, *http.Request) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = append(f.faults, &injected{call, times, meet})
}

// answering is the fault that Vercel does nothing but answer so.
func answering(status int, header ...string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		refuse(w, status, "injected", "A fault of the test.")
		return false
	}
}

// unheard is the fault that it is done and not answered.
func (f *fake) unheard(_ http.ResponseWriter, r *http.Request) bool {
	f.serve(httptest.NewRecorder(), r)
	panic(http.ErrAbortHandler)
}

func (f *fake) fault(r *http.Request) *injected {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, fault := range f.faults {
		if strings.Contains(r.Method+" "+r.URL.Path, fault.call) {
			if fault.times--; fault.times == 0 {
				f.faults = slices.Delete(f.faults, i, i+1)
			}
			return fault
		}
	}
	return nil
}

// count is how often something was asked.
func (f *fake) count(call string) (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, asked := range f.asked {
		if strings.Contains(asked, call) {
			n++
		}
	}
	return n
}

// names are the sandboxes that there are, by what they are.
func (f *fake) names(status string) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []string
	for name, l := range f.sandboxes {
		if status == "" || l.status == status {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.asked = append(f.asked, r.Method+" "+r.URL.Path)
	f.mu.Unlock()
	if fault := f.fault(r); fault != nil && !fault.meet(w, r) {
		return
	}
	f.serve(w, r)
}

func (f *fake) serve(w http.ResponseWriter, r *http.Request) {
	s, known := shapeOf(r)
	if !known {
		f.tb.Errorf("Vercel has no %s %s", r.Method, r.URL.Path)
		refuse(w, http.StatusNotFound, "not_found", "There is no such call.")
		return
	}
	body, faults := s.faults(r)
	if len(faults) > 0 {
		f.tb.Errorf("%s %s: %s", s.method, s.path, strings.Join(faults, "; "))
		refuse(w, http.StatusBadRequest, "bad_request", strings.Join(faults, "; "))
		return
	}
	if r.Header.Get("Authorization") != "Bearer "+fakeToken || r.URL.Query().Get("teamId") != fakeTeam {
		refuse(w, http.StatusForbidden, "forbidden", "Not authorized.")
		return
	}
	f.note(s, body)
	f.route(w, r, s, body)
}

// note keeps the bodies of calls for comparison.
func (f *fake) note(s shape, body []byte) {
	var fields map[string]any
	if s.body == nil || json.Unmarshal(body, &fields) != nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.bodies[s.method+" "+s.path] = append(f.bodies[s.method+" "+s.path], fields)
}

func (f *fake) route(w http.ResponseWriter, r *http.Request, s shape, body []byte) {
	parts := strings.Split(r.URL.Path, "/")
	name := parts[len(parts)-1]
	switch s.method + " " + s.path {
	case "POST /v3/sandboxes":
		f.create(w, body)
	case "GET /v2/sandboxes":
		f.list(w, r)
	case "GET /v2/sandboxes/{sandbox}":
		f.withSandbox(w, name, func(l *lent) { answer(w, l.whole()) })
	case "DELETE /v2/sandboxes/{sandbox}":
		f.withSandbox(w, name, func(l *lent) {
			l.stop()
			f.mu.Lock()
			delete(f.sandboxes, name)
			f.mu.Unlock()
			answer(w, map[string]any{"sandbox": l.named()})
		})
	case "GET /v2/sandboxes/drives":
		f.listDrives(w, r)
	case "POST /v2/sandboxes/drives/{drive}":
		f.drive(w, name, body)
	case "DELETE /v2/sandboxes/drives/{drive}":
		f.removeDrive(w, name)
	default:
		f.inSession(w, r, s, parts, body)
	}
}

func (f *fake) withSandbox(w http.ResponseWriter, name string, do func(*lent)) {
	f.mu.Lock()
	l := f.sandboxes[name]
	f.mu.Unlock()
	if l == nil {
		refuse(w, http.StatusNotFound, "not_found", "Named sandbox '"+name+"' not found for this project.")
		return
	}
	do(l)
}

func (f *fake) inSession(w http.ResponseWriter, r *http.Request, s shape, parts []string, body []byte) {
	f.mu.Lock()
	l := f.sessions[parts[4]]
	f.mu.Unlock()
	switch {
	case l == nil:
		refuse(w, http.StatusNotFound, "not_found", "Session not found.")
		return
	case strings.HasSuffix(s.path, "{session}"):
		answer(w, map[string]any{"session": l.session(), "routes": []any{}})
		return
	case l.isOver() && !strings.HasSuffix(s.path, "/logs") && !strings.HasSuffix(s.path, "{command}"):
		refuse(w, http.StatusGone, "sandbox_stopped", "The sandbox has stopped.")
		return
	}
	fields := map[string]any{}
	_ = json.Unmarshal(body, &fields) // its shape was looked at
	switch strings.TrimPrefix(s.path, "/v2/sandboxes/sessions/{session}/") {
	case "stop":
		l.stop()
		answer(w, map[string]any{"session": l.session(), "sandbox": l.named()})
	case "extend-timeout":
		l.extend(w, time.Duration(fields["duration"].(float64))*time.Millisecond)
	case "cmd":
		l.run(w, r, body)
	case "fs/write":
		l.unpack(w, r.Header.Get("X-Cwd"), body)
	case "fs/read":
		l.read(w, fields["path"].(string))
	case "fs/mkdir":
		l.mkdir(w, fields["path"].(string))
	default:
		l.ofCommand(w, r, s, parts, fields)
	}
}

func answer(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_ = json.NewEncoder(w).Encode(value)
}

func refuse(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]string{"code": code, "message": message}})
}

func (f *fake) number(prefix string) string {
	f.numbers++
	return fmt.Sprintf("%s_%d", prefix, f.numbers)
}

// create wants what Vercel wants of values.
func (f *fake) create(w http.ResponseWriter, body []byte) {
	given := wanted{Resources: resources{2}, Timeout: 300_000, Network: network{"allow-all"}, Image: fakeImage + ":latest", Region: "iad1", Persistent: true}
	if err := json.Unmarshal(body, &given); err != nil {
		refuse(w, http.StatusBadRequest, "bad_request", err.Error())
		return
	}
	l := &lent{fake: f, wanted: given, created: time.Now(), status: "running", timeout: time.Duration(given.Timeout) * time.Millisecond,
		commands: map[string]*command{}, booted: make(chan struct{}), ended: make(chan struct{})}
	if status, code, message := f.reserve(l); status != 0 {
		refuse(w, status, code, message)
		return
	}
	if err := l.boot(); err != nil {
		f.tb.Error(err)
		refuse(w, http.StatusInternalServerError, "internal_server_error", "Failed to create sandbox.")
		return
	}
	whole := l.whole()
	whole["session"].(map[string]any)["status"] = "pending" // it is answered before it runs
	answer(w, whole)
}

// reserve takes the name and the drives.
func (f *fake) reserve(l *lent) (status int, code, message string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	v := l.wanted.Resources.VCPUs
	if l.wanted.Name == "" {
		l.wanted.Name = f.number("sandbox")
	}
	switch {
	case l.wanted.Project != fakeProject:
		return http.StatusNotFound, "not_found", "Project not found."
	case v != 1 && v%2 != 0 || v < 1 || v > 32:
		return http.StatusBadRequest, "bad_request", "`vcpus` must be 1, or an even number."
	case l.timeout < time.Second || l.timeout > f.most:
		return http.StatusBadRequest, "bad_request", "`timeout` is out of bounds."
	case len(l.wanted.Tags) > 5 || len(l.wanted.Mounts) > 4:
		return http.StatusBadRequest, "bad_request", "There are too many tags or mounts."
	case f.sandboxes[l.wanted.Name] != nil:
		return http.StatusConflict, "sandbox_exists", "A sandbox of that name exists already."
	}
	for _, tag := range l.wanted.Tags {
		if len(tag) > 256 {
			return http.StatusBadRequest, "bad_request", "A tag is too long."
		}
	}
	for _, m := range l.wanted.Mounts {
		d := f.drives[m.Drive]
		if d == nil {
			return http.StatusNotFound, "not_found", "Drive not found."
		}
		if d.by != nil {
			return http.StatusConflict, "conflict", "The drive is attached to another sandbox."
		}
		d.by = l
	}
	l.id = f.number("sbx")
	f.sandboxes[l.wanted.Name], f.sessions[l.id] = l, l
	return 0, "", ""
}

// boot starts the machine. Its default user has a home and may write there.
func (l *lent) boot() (err error) {
	defer close(l.booted)
	l.machine = machine.New(l.fake.tb)
	furnish := machine.Cmd{Argv: []string{"/usr/bin/install", "-d", "-o", "1000", "-g", "1000", "/home/default"}}
	if out, code, err := l.machine.Do(l.fake.tb.Context(), furnish, nil); code != 0 || err != nil {
		return fmt.Errorf("making a home: %s, %w", out, err)
	}
	for path, m := range l.wanted.Mounts {
		if err := l.machine.Load(l.fake.driveOf(m).folder, path); err != nil {
			return err
		}
	}
	if l.files, err = openFiles(l.machine); err != nil {
		return err
	}
	l.fake.mu.Lock()
	defer l.fake.mu.Unlock()
	l.timer = time.AfterFunc(l.timeout, l.stop)
	return nil
}

func (f *fake) driveOf(m mount) *fakeDrive {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.drives[m.Drive]
}

func (l *lent) isOver() bool {
	select {
	case <-l.ended:
		return true
	default:
		return false
	}
}

// stop ends the machine; its drives keep what was written.
func (l *lent) stop() {
	if l.booted != nil { // else it never ran
		<-l.booted
	}
	l.fake.mu.Lock()
	if l.status != "running" {
		l.fake.mu.Unlock()
		<-l.ended
		return
	}
	l.status = "stopping"
	l.timer.Stop()
	l.fake.mu.Unlock()
	l.machine.Halt()
	for path, m := range l.wanted.Mounts {
		if err := l.machine.Unload(path, l.fake.driveOf(m).folder+".new"); err != nil {
			l.fake.tb.Error(err)
		}
	}
	l.machine.Stop()
	l.fake.mu.Lock()
	defer l.fake.mu.Unlock()
	for _, m := range l.wanted.Mounts {
		d := l.fake.drives[m.Drive]
		d.folder, d.by = d.folder+".new", nil
	}
	l.status = "stopped"
	close(l.ended)
}

func (l *lent) extend(w http.ResponseWriter, by time.Duration) {
	l.fake.mu.Lock()
	defer l.fake.mu.Unlock()
	if l.timeout+by > l.fake.most {
		refuse(w, http.StatusBadRequest, "bad_request", "The sandbox may not run longer.")
		return
	}
	l.timeout += by
	l.timer.Reset(time.Until(l.created.Add(l.timeout)))
	answer(w, map[string]any{"session": l.sessionNow()})
}

func (l *lent) whole() map[string]any {
	return map[string]any{"sandbox": l.named(), "session": l.session(), "routes": []any{}}
}

func (l *lent) named() map[string]any {
	l.fake.mu.Lock()
	defer l.fake.mu.Unlock()
	image, pinned, ok := strings.Cut(l.wanted.Image, "@")
	if pinned = "@" + pinned; !ok {
		image, _, _ = strings.Cut(l.wanted.Image, ":")
		pinned = fakeDigest
	}
	all := map[string]any{"name": l.wanted.Name, "persistent": l.wanted.Persistent, "region": l.wanted.Region, "status": l.status,
		"vcpus": l.wanted.Resources.VCPUs, "memory": l.wanted.Resources.VCPUs * 2048, "image": image + pinned, "timeout": l.wanted.Timeout,
		"networkPolicy": l.wanted.Network, "createdAt": l.created.UnixMilli(), "updatedAt": l.created.UnixMilli(),
		"currentSessionId": l.id, "cwd": "/home/default", "tags": l.wanted.Tags, "statusUpdatedAt": l.created.UnixMilli()}
	if l.wanted.Mounts != nil {
		all["mounts"] = l.wanted.Mounts
	}
	return all
}

func (l *lent) session() map[string]any {
	l.fake.mu.Lock()
	defer l.fake.mu.Unlock()
	return l.sessionNow()
}

func (l *lent) sessionNow() map[string]any {
	return map[string]any{"id": l.id, "memory": l.wanted.Resources.VCPUs * 2048, "vcpus": l.wanted.Resources.VCPUs, "region": l.wanted.Region,
		"timeout": l.timeout.Milliseconds(), "status": l.status, "requestedAt": l.created.UnixMilli(), "createdAt": l.created.UnixMilli(),
		"cwd": "/home/default", "updatedAt": l.created.UnixMilli(), "startedAt": l.created.UnixMilli(), "networkPolicy": l.wanted.Network,
		"projectId": fakeProject, "sourceSandboxName": l.wanted.Name}
}

// page cuts a list of names that is sorted already.
func page(w http.ResponseWriter, r *http.Request, names []string) (part []string, next any, ok bool) {
	query := r.URL.Query()
	limit, err := strconv.Atoi(cmp.Or(query.Get("limit"), "20"))
	if prefix := query.Get("namePrefix"); err != nil || limit < 1 || limit > 50 || prefix != "" && query.Get("sortBy") != "name" {
		refuse(w, http.StatusBadRequest, "bad_request", "`limit` is 1 to 50, and `namePrefix` is valid where `sortBy` is `name`.")
		return nil, nil, false
	}
	for _, name := range names {
		if strings.HasPrefix(name, query.Get("namePrefix")) && name > query.Get("cursor") {
			part = append(part, name)
		}
	}
	if len(part) > limit {
		part = part[:limit]
		next = part[limit-1]
	}
	return part, next, true
}

func (f *fake) list(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("project") != fakeProject {
		refuse(w, http.StatusNotFound, "not_found", "Project not found.")
		return
	}
	part, next, ok := page(w, r, f.names(""))
	if !ok {
		return
	}
	list := []any{}
	for _, name := range part {
		f.withSandbox(w, name, func(l *lent) { list = append(list, l.named()) })
	}
	answer(w, map[string]any{"sandboxes": list, "pagination": map[string]any{"count": len(list), "next": next}})
}

func (d *fakeDrive) said() map[string]any {
	all := map[string]any{"id": "drv_" + d.name, "name": d.name, "projectId": fakeProject, "region": "iad1", "maxSizeBytes": d.size,
		"createdAt": d.created.UnixMilli(), "updatedAt": d.created.UnixMilli()}
	if d.by != nil {
		all["currentSessionId"], all["currentSandboxName"] = d.by.id, d.by.wanted.Name
	}
	return all
}

func (f *fake) drive(w http.ResponseWriter, name string, body []byte) {
	given := struct {
		ProjectID, Region string
		MaxSizeBytes      int64
	}{Region: "iad1"}
	_ = json.Unmarshal(body, &given) // its shape was looked at
	f.mu.Lock()
	defer f.mu.Unlock()
	d := f.drives[name]
	switch {
	case len(name) > 64 || given.ProjectID != fakeProject || given.Region != "iad1":
		refuse(w, http.StatusBadRequest, "bad_request", "The drive cannot be so.")
		return
	case d == nil:
		d = &fakeDrive{name: name, folder: filepath.Join(f.tb.TempDir(), "drive"), size: cmp.Or(given.MaxSizeBytes, 1<<40), created: time.Now()}
		if err := mkdir(d.folder); err != nil {
			f.tb.Error(err)
		}
		f.drives[name] = d
	case given.MaxSizeBytes != 0 && given.MaxSizeBytes != d.size:
		refuse(w, http.StatusConflict, "conflict", "The drive has another size.")
		return
	}
	answer(w, map[string]any{"drive": d.said()})
}

func (f *fake) listDrives(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	part, next, ok := page(w, r, slices.Sorted(maps.Keys(f.drives)))
	if !ok {
		return
	}
	list := []any{}
	for _, name := range part {
		list = append(list, f.drives[name].said())
	}
	answer(w, map[string]any{"drives": list, "pagination": map[string]any{"count": len(list), "next": next}})
}

func (f *fake) removeDrive(w http.ResponseWriter, name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch d := f.drives[name]; {
	case d == nil:
		refuse(w, http.StatusNotFound, "not_found", "Drive not found.")
	case d.by != nil:
		refuse(w, http.StatusConflict, "conflict", "The drive is attached to a sandbox.")
	default:
		delete(f.drives, name)
		answer(w, map[string]any{"drive": d.said()})
	}
}

// files is the service in a machine that writes files as the default user.
type files struct {
	mu      sync.Mutex
	process *machine.Process
	said    *bufio.Reader
}

//go:embed testdata/files.py
var filesService string

func openFiles(m *machine.Machine) (*files, error) {
	p, err := m.Start(machine.Cmd{Argv: []string{"/usr/bin/python3", "-u", "-c", filesService}, User: 1000})
	if err != nil {
		return nil, err
	}
	return &files{process: p, said: bufio.NewReader(p.Stdout)}, nil
}

// write returns what the service says of it.
func (f *files) write(path string, mode int64, content []byte) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, err := fmt.Fprintf(f.process.Stdin, "%s %o %d\n", path, mode, len(content)); err != nil {
		return err.Error()
	}
	if _, err := f.process.Stdin.Write(content); err != nil {
		return err.Error()
	}
	said, err := f.said.ReadString('\n')
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(said)
}

func (l *lent) unpack(w http.ResponseWriter, into string, body []byte) {
	zipped, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		refuse(w, http.StatusBadRequest, "bad_request", err.Error())
		return
	}
	for archive := tar.NewReader(zipped); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		content, unread := io.ReadAll(archive)
		if err != nil || unread != nil || header.Typeflag != tar.TypeReg || strings.HasPrefix(header.Name, "/") {
			l.fake.tb.Errorf("an archive holds %+v, %v", header, errors.Join(err, unread))
			refuse(w, http.StatusBadRequest, "bad_request", "The archive cannot be read.")
			return
		}
		if said := l.files.write(filepath.Join(into, header.Name), header.Mode, content); said != "ok" {
			refuse(w, http.StatusBadRequest, "bad_request", said)
			return
		}
	}
	answer(w, map[string]any{})
}

func (l *lent) read(w http.ResponseWriter, path string) {
	content, err := l.machine.ReadFile(filepath.Join("/home/default", path))
	if path[0] == '/' {
		content, err = l.machine.ReadFile(path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		refuse(w, http.StatusNotFound, "not_found", "File not found.")
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	_, _ = w.Write(content)
}

func (l *lent) mkdir(w http.ResponseWriter, path string) {
	out, code, err := l.machine.Do(l.fake.tb.Context(), machine.Cmd{Argv: []string{"/bin/mkdir", path}, Dir: "/home/default", User: 1000}, nil)
	if err != nil || code != 0 {
		refuse(w, http.StatusBadRequest, "bad_request", string(out))
		return
	}
	answer(w, map[string]any{})
}
