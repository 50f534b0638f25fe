package api

import "time"

// Command is a request whose changes were kept, or an undoing.
type Command struct {
	// ID is the decision's.
	ID        string    `json:"id"`
	RequestID string    `json:"request_id,omitempty"`
	Caller    string    `json:"caller,omitempty"`
	Session   string    `json:"session,omitempty"`
	Text      string    `json:"text"`
	Time      time.Time `json:"time"`
	// Undoes is the ID of the command that this one undid.
	Undoes  string   `json:"undoes,omitempty"`
	Folders []string `json:"folders"`
}

// Commands are those whose changes were kept, the newest first.
type Commands struct {
	Commands []Command `json:"commands"`
}

// Changes are what became of the folders of a command.
type Changes struct {
	Command Command         `json:"command"`
	Folders []FolderChanges `json:"folders"`
	// Patch is the difference as text, where it was asked for, without files that git ignores. Of a longer one it has the beginning,
	// and IsCut says so.
	Patch string `json:"patch,omitempty"`
	IsCut bool   `json:"patch_cut,omitempty"`
}

// FolderChanges are what became of a folder between the snapshots before and after a command, others' changes of that time among it.
type FolderChanges struct {
	Folder string `json:"folder"`
	// Known is false where there is no snapshot after the command.
	Known   bool         `json:"known"`
	Changes []FileChange `json:"changes"`
	// Unkept are files and folders that the snapshot before has not, with the reason.
	Unkept []Unkept `json:"unkept,omitempty"`
	// Earlier are the changes before the command, since the last snapshot; nil if there are none.
	Earlier *EarlierChanges `json:"earlier,omitempty"`
}

// EarlierChanges are what became of a folder between two snapshots that are not of one command.
type EarlierChanges struct {
	Since time.Time `json:"since"`
	// Whose says in words by whom they can be.
	Whose   string       `json:"whose"`
	Changes []FileChange `json:"changes"`
}

// FileChange is what became of a file.
type FileChange struct {
	Path string `json:"path"`
	// Kind is "added", "changed", "deleted" or "permissions".
	Kind string `json:"kind"`
	// Added and Removed are lines, -1 where the file is no text.
	Added   int `json:"added"`
	Removed int `json:"removed"`
	// Ignored says that git ignores the file.
	Ignored bool `json:"ignored,omitempty"`
	// Whose says in words by whom the change can be; empty if nothing ran in a sandbox meanwhile but the command.
	Whose string `json:"whose,omitempty"`
}

// Unkept is a file or folder that a snapshot has not.
type Unkept struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

// Undoing asks to have back what a command changed.
type Undoing struct {
	// Paths are files and folders, absolute or seen from the project; none means all that the command changed.
	Paths []string `json:"paths,omitempty"`
	// Force puts back what changed since the command, too.
	Force bool `json:"force,omitempty"`
}

// Undone is what an undoing did.
type Undone struct {
	// ID is that of the undoing, by which it can be undone.
	ID       string   `json:"id"`
	Restored []string `json:"restored"`
	// Left are files that changed since the command, Failed those that could not be put back, with the reason.
	Left   []string `json:"left"`
	Failed []string `json:"failed"`
}
