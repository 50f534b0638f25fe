package vercel

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff/backends/backendtest/machine"
)

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

// create wants what Vercel wants of values.
func (f *fake) create(w http.ResponseWriter, body []byte) {
	given := wanted{Resources: resources{2}, Timeout: 300_000, Network: network{"allow-all"}, Image: fakeImage + ":latest", Region: "iad1",
		Persistent: true}
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
	makeHome := machine.Cmd{Argv: []string{"/usr/bin/install", "-d", "-o", "1000", "-g", "1000", "/home/default"}}
	if out, code, err := l.machine.Do(l.fake.tb.Context(), makeHome, nil); code != 0 || err != nil {
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
	return map[string]any{"id": l.id, "memory": l.wanted.Resources.VCPUs * 2048, "vcpus": l.wanted.Resources.VCPUs,
		"region":  l.wanted.Region,
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
