package vercel

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"time"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

type fakeDrive struct {
	name, folder string
	size         int64
	by           *lent
	created      time.Time
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
		d = &fakeDrive{name: name, folder: filepath.Join(f.tb.TempDir(), "drive"), size: cmp.Or(given.MaxSizeBytes, 1<<40),
			created: time.Now()}
		backendtest.NoError(f.tb, mkdir(d.folder))
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
