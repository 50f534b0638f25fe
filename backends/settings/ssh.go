package settings

import (
	"os"
	"path/filepath"
	"time"
)

// SSH is how a host is reached, as a section of bailiff.yaml says it. Package remote
// reads the section and goes there.
type SSH struct {
	// Keys, Agent and KnownHosts are paths, of the keys, the agent's socket and the
	// lists of known hosts, for the host on the way too.
	Keys       []string
	Agent      string
	KnownHosts []string
	// KeepAlive is how often the host is asked whether it is still there.
	KeepAlive time.Duration
	// TrustFirst has a host that is not known trusted when it is first met.
	TrustFirst bool
	// Jump is a host on the way, as user@name or user@name:port; empty means none.
	Jump string
}

// UsualSSH knows the hosts that the ssh command knows.
func UsualSSH() SSH {
	s := SSH{KnownHosts: []string{"/etc/ssh/ssh_known_hosts"}}
	if home, err := os.UserHomeDir(); err == nil {
		s.KnownHosts = append([]string{filepath.Join(home, ".ssh", "known_hosts")}, s.KnownHosts...)
	}
	return s
}

// IsSet says whether the section says more than which hosts are known.
func (s SSH) IsSet() bool {
	return len(s.Keys) > 0 || s.Agent != "" || s.Jump != "" || s.TrustFirst || s.KeepAlive != 0
}
