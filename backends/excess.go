package backends

import "fmt"

// Excess says by what a workspace is over its bound; all is zero where it is not.
type Excess struct {
	// Limit is the bound's name, [WorkspaceMB] or [WorkspaceFiles]; Found and Most are in its unit.
	Limit       string
	Found, Most int64
	// Uncounted says that more than Found cannot be counted.
	Uncounted bool
	// Stopped says that the command was killed for it.
	Stopped bool
}

// Names of the bounds on a workspace: MiB that its disk gave, files and folders.
const (
	WorkspaceMB    = "workspace_mb"
	WorkspaceFiles = "workspace_files"
)

// Sentence tells the agent of an excess; it is empty where there is none.
func (x Excess) Sentence() string {
	var said string
	switch {
	case x.Limit == "":
		return ""
	case x.Uncounted:
		said = fmt.Sprintf("The workspace cannot be counted beyond %d files and folders: it has many times the %d that it may have "+
			"(workspace_files), or folders are closed and moved meanwhile", x.Found, x.Most)
	case x.Limit == WorkspaceMB:
		said = fmt.Sprintf("The workspace has %d MB, and may have %d (workspace_mb)", x.Found, x.Most)
	default:
		said = fmt.Sprintf("The workspace has %d files and folders, and may have %d (workspace_files)", x.Found, x.Most)
	}
	if x.Stopped {
		return said + ": what made it grow was stopped. Delete files first."
	}
	return said + ": what makes it grow is stopped. Delete files."
}
