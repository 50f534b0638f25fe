package bailiff

// Ground is what was found of the paths that a request's text names, where it runs.
type Ground struct {
	// Links are those on the way of the paths, sorted by their own.
	Links []Link
	// Folder is the working folder by its device and inode, empty where that is not known.
	Folder string
	// Unseen says that not all paths could be looked at.
	Unseen bool
}

// Link is a part of a path that is a link, spelt as the path, with the names of what it leads to: as the link has them, and
// as they are where no more links are on the way.
type Link struct {
	Path    string   `json:"path"`
	Targets []string `json:"targets"`
}
