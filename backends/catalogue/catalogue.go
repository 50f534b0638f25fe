// Package catalogue names the technologies that a sidecar knows. It is the one
// place to add another: a line with its name and its [backends.Maker].
package catalogue

import (
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/apptainer"
	"github.com/bailiff-dev/bailiff/backends/bubblewrap"
	"github.com/bailiff-dev/bailiff/backends/daytona"
	"github.com/bailiff-dev/bailiff/backends/docker"
	"github.com/bailiff-dev/bailiff/backends/kubernetes"
	"github.com/bailiff-dev/bailiff/backends/local"
	"github.com/bailiff-dev/bailiff/backends/modal"
	"github.com/bailiff-dev/bailiff/backends/ssh"
	"github.com/bailiff-dev/bailiff/backends/vercel"
)

// All returns them by the names that decisions use.
func All() backends.Catalogue {
	return backends.Catalogue{
		"apptainer":  func() backends.Maker { return apptainer.Defaults() },
		"bubblewrap": func() backends.Maker { return new(bubblewrap.Config) },
		"daytona":    func() backends.Maker { return daytona.Defaults() },
		"docker":     func() backends.Maker { return docker.Defaults() },
		"kubernetes": func() backends.Maker { return kubernetes.Defaults() },
		"local":      func() backends.Maker { return new(local.Config) },
		"modal":      func() backends.Maker { return modal.Defaults() },
		"ssh":        func() backends.Maker { return ssh.Defaults() },
		"vercel":     func() backends.Maker { return vercel.Defaults() },
	}
}
