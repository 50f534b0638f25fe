package app

import (
	"path/filepath"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/enforcer"
	"github.com/bailiff-dev/bailiff/enforcer/guard"
	"github.com/bailiff-dev/bailiff/internal/project/carry"
	"github.com/bailiff-dev/bailiff/internal/project/keeper"
)

// repositories are those of package carry, as the enforcer asks for them.
type repositories struct{ *carry.Repositories }

// Watch is that of the package.
func (r repositories) Watch(own []bailiff.Mount, why string, protection guard.Protection) guard.Git {
	return r.Repositories.Watch(own, why, protection)
}

// newRepositories keeps git in sandboxes apart from the real git directories, where this machine can.
func (c *core) newRepositories() enforcer.Repositories {
	var run carry.Runner
	if k, err := keeper.New(); err == nil {
		run = k
	}
	return repositories{carry.New(filepath.Join(c.cfg.StateDir, "projects"), run, c.log)}
}
