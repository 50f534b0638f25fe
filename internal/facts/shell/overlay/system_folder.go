package overlay

func IsSystemFolder(dir string) bool {
	switch dir {
	case "/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/usr/local/go/bin",
		"/opt/homebrew/bin", "/snap/bin":
		return true
	}
	return false
}
