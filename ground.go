package bailiff

// Ground is what was found of the paths that a request's text names, where it runs.
type Ground struct {
	// Links are those on the way of the paths, sorted by their own.
	Links []Link
	// Folder is the working folder by its device and inode, empty where that is not known.
	Folder string
	// Unseen says that not all paths could be looked at.
	Unseen bool
	// Settings are the files by which a program of the text starts others, or reaches other places, without the text
	// naming them. The digest of git's settings is of those that may do so.
	Settings []File `json:",omitempty"`
	// Known are programs of the text that the owner of a host has installed, or the project declares: by their names, or by the
	// paths of their files, as a judgement has them. Sought says that these were looked for.
	Known  []string `json:",omitempty"`
	Sought bool     `json:",omitempty"`
	// Unknown are the others by their content, as far as they are files, and Host names the machine where they are.
	Unknown []File `json:",omitempty"`
	Host    string `json:",omitempty"`
	// Asked are the paths of those about whose content the policies ask.
	Asked []string `json:",omitempty"`
}

// Implied is a place in which a program finds by itself what it runs, and the text does not name. Folder is spelt as the
// paths of a judgement are, with "$" where the text does not tell it.
type Implied struct {
	Kind   ImpliedKind
	Folder string
}

// ImpliedKind says what is found there.
type ImpliedKind string

// What programs find by themselves: the settings and hooks of the repository around a folder, files in a folder that
// Python takes for modules of its library, anything in a folder, packages that were installed into one: these are too many
// to be bound.
const (
	ImpliedSettings ImpliedKind = "git"
	ImpliedModules  ImpliedKind = "python"
	ImpliedFiles    ImpliedKind = "files"
	ImpliedPackages ImpliedKind = "packages"
)

// Link is a part of a path that is a link, spelt as the path, with the names of what it leads to: as the link has them, and
// as they are where no more links are on the way.
type Link struct {
	Path    string   `json:"path"`
	Targets []string `json:"targets"`
}
