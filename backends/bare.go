package backends

import "fmt"

// CheckBare refuses what cannot be done for one session where commands run on a host
// itself.
func CheckBare(backend string, spec Spec) error {
	for _, c := range []struct {
		field string
		met   bool
		want  string
	}{
		{"network", spec.Network == "full", `"full": commands use the host's`},
		{"image", spec.Image == "", "none: the host is what it is"},
		{"runtime", spec.Runtime == "", "none: commands run on the host's kernel"},
		{"cpus", spec.CPUs == 0, "0: nothing bounds them"},
		{"memory_mb", spec.MemoryMB == 0, "0: nothing bounds it"},
		{"disk_mb", spec.DiskMB == 0, "0: nothing bounds it"},
		{WorkspaceMB, spec.WorkspaceMB == 0, "0: nothing bounds the host's folders"},
		{WorkspaceFiles, spec.WorkspaceFiles == 0, "0: nothing bounds the host's folders"},
		{"pids", spec.PIDs == 0, "0: nothing bounds them"},
		{"read_only", !spec.ReadOnly, "false: the host's files are as they are"},
		{"mounts", len(spec.Mounts) == 0, "none: commands see the host's files"},
	} {
		if !c.met {
			return fmt.Errorf("%w: on the %s backend %s must be %s", ErrUnsupported, backend, c.field, c.want)
		}
	}
	return nil
}
