package overlay

// IsSystemFolder says that a folder holds programs of the system, which a session cannot change.
func IsSystemFolder(dir string) bool {
	switch dir {
	case "/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/usr/local/go/bin",
		"/opt/homebrew/bin", "/snap/bin":
		return true
	}
	return false
}
