package workdirs

// MountPath is where a sandbox sees its workspace.
const MountPath = "/workspace"

// Root is where the writable layer of a root that is not read-only begins.
const Root = "/"

// Writable are the folders that a sandbox may write to. All are in memory, but for
// a workspace that has a name.
var Writable = []string{MountPath, "/tmp", "/home", Root, "/var/tmp", "/run", "/dev/shm"}

// shares are those of the folders in a bound on the disk, in 32nds.
var shares = map[string]int{MountPath: 16, "/tmp": 6, "/home": 4, Root: 2, "/var/tmp": 2, "/run": 1, "/dev/shm": 1}

// ShareMB is what of a bound falls to a folder; zero where there is no bound.
func ShareMB(totalMB int, folder string) int {
	if share := shares[folder]; share > 0 && totalMB > 0 {
		return max(1, totalMB*share/32)
	}
	return 0
}
